import type { Evaluated } from '@opsplane/sandbox'
import type { ApprovalDecision, By, Retry, StepError } from './history.js'
import type { TaskId } from './task.js'

/**
 * What a run is presented with, for the decider to say what follows. One for a task that is no longer asked for, late or
 * repeated, changes nothing. `secrets`: those that stand in an outcome, which is computed with as it is.
 */
export type Signal =
  /** It has left the queue. */
  | { kind: 'start' }
  /** What became of a task `evaluate`: one result for each of its templates. Never that there was no child for it. */
  | { kind: 'evaluated'; task: TaskId; values: readonly Evaluated[] }
  /** What became of a task `perform`. */
  | { kind: 'performed'; task: TaskId; outcome: Outcome; secrets?: readonly string[] }
  /** What became of a task `start_run`. */
  | { kind: 'child_started'; task: TaskId; outcome: { ok: true; runId: string } | Failure }
  /** The run has ended that a task `await` is for. */
  | { kind: 'child_ended'; task: TaskId; outcome: Outcome; secrets?: readonly string[] }
  /** The event that a task `await` is for, as a webhook gets it. */
  | { kind: 'event'; task: TaskId; event: unknown }
  /** A decision on the approval that a task `await` is for; the sender has checked that this person may decide. */
  | { kind: 'decision'; task: TaskId; decision: ApprovalDecision }
  /** Time has passed. One thing that is due is dealt with at a time: to be sent again until nothing changes. */
  | { kind: 'tick' }
  | { kind: 'cancel'; by: By; reason: string | null }
  | ({ kind: 'retry' } & Retry)
  /** The run cannot be carried on, and is dead. */
  | { kind: 'abandon'; code: string; message: string }

export type Outcome = { ok: true; output: unknown } | Failure
export interface Failure {
  ok: false
  error: StepError
}
