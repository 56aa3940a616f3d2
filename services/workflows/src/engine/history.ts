import type { RunError } from '@opsplane/contracts'

/**
 * The place of a step in a run: its id followed by the item index in each surrounding `for_each`, as in `notify[3]` or
 * `notify[3][0]`.
 */
export type Place = string

/** Why an attempt at a step, or the step itself, failed. */
export interface StepError {
  code: string
  message: string
  details?: unknown
  /** Whether another attempt may succeed. */
  retryable: boolean
  /** Whether the effect may have happened despite the error. Default: it may have if the error is retryable. */
  uncertain?: boolean
  /** Minimum delay before the receiver accepts another request, in milliseconds. */
  retryAfterMs?: number
}

/** The awaited time, event, approval or run. Instants are Unix milliseconds by the database clock. */
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

/** The actor who cancelled, retried or resumed a run: a user id, or `system`. */
export type By = string

/** Options of a retry of a run. */
export interface Retry {
  by: By
  /** The place of a top-level step, which is its id; `null`: repeat only failed and abandoned steps. */
  from: Place | null
  /** Effects with an unknown outcome get a new idempotency key, and their input is evaluated again. */
  newKey?: true
  /** Attempt of the parent run that waits for this run and continues it; at most one retry for each attempt. */
  parentAttempt?: number
}

/** Values received with this entry that are masked everywhere in the run. */
interface Concealing {
  secrets?: readonly string[]
}

/**
 * One fact of a run's history; it is never decided again. A run is the fold of its entries. Inputs and outputs of steps
 * are stored only here, once.
 */
export type Entry =
  /** The run has left the queue. */
  | { kind: 'started' }
  /**
   * The step's input is evaluated; from now on its effect may have happened. `input` is `null` for a step
   * without one.
   */
  | { kind: 'begun'; place: Place; input: unknown }
  /** `retryAt` is `null` after the last attempt. */
  | ({
      kind: 'attempt_failed'
      place: Place
      attempt: number
      error: StepError
      retryAt: number | null
    } & Concealing)
  /** The delay before the next attempt is over. */
  | { kind: 'retry_due'; place: Place; attempt: number }
  | { kind: 'waiting'; place: Place; waiting: Waiting }
  /** A decision on an approval. */
  | { kind: 'decided'; place: Place; decision: ApprovalDecision }
  | { kind: 'reminded'; place: Place; remindAt: number | null }
  /** The list that a `branch` or `switch` runs; `null` for none. */
  | { kind: 'chosen'; place: Place; list: string | null }
  /** The items of a `for_each`. */
  | { kind: 'items'; place: Place; items: unknown[] }
  /** Only for steps that contain no others: the outcome of a container follows from its steps. */
  | ({ kind: 'completed'; place: Place; output: unknown } & Concealing)
  /** Only for steps that contain no others, or for the whole run (place `''`) when it exceeds its time limit. */
  | ({ kind: 'failed'; place: Place; error: StepError } & Concealing)
  | { kind: 'cancelling'; by: By; reason: string | null }
  /** Results at `from` and after it are discarded. */
  | ({ kind: 'retried' } & Retry)
  | { kind: 'ended'; status: 'completed'; output: unknown }
  | { kind: 'ended'; status: 'failed' | 'cancelled' | 'dead'; error: RunError | null }

/** An entry as recorded in the journal of its run. */
export interface Recorded {
  /** Starts at 1, without gaps. */
  seq: number
  /** Time of the decision in Unix milliseconds: the decision's `now`. */
  at: number
  /** Approximate size of its JSON. */
  bytes: number
  entry: Entry
}
