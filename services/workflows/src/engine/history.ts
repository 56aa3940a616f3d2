import type { RunError } from '@opsplane/contracts'

/**
 * Where a step stands in a run: its id, and in a `for_each` which item of each one around it, as in `notify[3]` or
 * `notify[3][0]`.
 */
export type Place = string

/** Why an attempt at a step, or the step itself, failed. */
export interface StepError {
  code: string
  message: string
  details?: unknown
  /** Whether another attempt may fare better. */
  retryable: boolean
  /** Whether the effect may have been had all the same. Where this is not said, it may if another attempt may fare better. */
  uncertain?: boolean
  /** Before which the other side does not want to be asked again, in milliseconds. */
  retryAfterMs?: number
}

/** What a step waits for. Instants are Unix milliseconds, by the clock of the database. */
export type Waiting =
  | { for: 'time'; dueAt: number }
  | { for: 'event'; types: string[]; filter: Record<string, unknown> | null; dueAt: number }
  | { for: 'approval'; approval: Approval; dueAt: number | null; remindAt: number | null }
  | { for: 'run'; runId: string }

export interface Approval {
  title: string
  message: string
  data: unknown
  users: string[]
  roles: string[]
  quorum: number
}

export interface ApprovalDecision {
  by: string
  decision: 'approve' | 'reject'
  comment: string | null
}

/** Who cancelled, retried or resumed a run: the id of a person, or `system`. */
export type By = string

/** How a run is retried. */
export interface Retry {
  by: By
  /** The place of a top-level step, which is its id; null: only what has failed or was cut off is done again. */
  from: Place | null
  /** Effects whose outcome is unknown get another key, and their input is evaluated again. */
  newKey?: true
  /** Of the run that waits for this one and goes on with it: it does so once in each attempt. */
  parentAttempt?: number
}

/** Values that people are not shown, wherever they stand in the run: those that came with an entry. */
interface Concealing {
  secrets?: readonly string[]
}

/**
 * One thing that has happened in a run, and is never decided again. A run is the fold of these: what its steps were given
 * and gave is kept in them alone, once.
 */
export type Entry =
  /** The run has left the queue. */
  | { kind: 'started' }
  /** The step's input is evaluated; an effect may have been had from now on. `input` null where a step has none. */
  | { kind: 'begun'; place: Place; input: unknown }
  /** `retryAt` null: it was the last attempt. */
  | ({
      kind: 'attempt_failed'
      place: Place
      attempt: number
      error: StepError
      retryAt: number | null
    } & Concealing)
  /** The delay before another attempt is over. */
  | { kind: 'retry_due'; place: Place; attempt: number }
  | { kind: 'waiting'; place: Place; waiting: Waiting }
  /** Of an approval. */
  | { kind: 'decided'; place: Place; decision: ApprovalDecision }
  | { kind: 'reminded'; place: Place; remindAt: number | null }
  /** Of a `branch` or `switch`: the list of steps that is run, `null` where none is. */
  | { kind: 'chosen'; place: Place; list: string | null }
  /** Of a `for_each`. */
  | { kind: 'items'; place: Place; items: unknown[] }
  /** Of steps that hold no others: what becomes of those that do follows from the steps in them. */
  | ({ kind: 'completed'; place: Place; output: unknown } & Concealing)
  /** Of steps as above, or of the run as a whole (`''`), when it takes too long. */
  | ({ kind: 'failed'; place: Place; error: StepError } & Concealing)
  | { kind: 'cancelling'; by: By; reason: string | null }
  /** What stands at `from` and after it is forgotten. */
  | ({ kind: 'retried' } & Retry)
  | { kind: 'ended'; status: 'completed'; output: unknown }
  | { kind: 'ended'; status: 'failed' | 'cancelled' | 'dead'; error: RunError | null }

/** An entry as recorded in the journal of its run. */
export interface Recorded {
  /** From 1 without gaps. */
  seq: number
  /** When it was decided, in Unix milliseconds: the `now` of the decision. */
  at: number
  /** Of its JSON, about. */
  bytes: number
  entry: Entry
}
