import type { Evaluated } from '@opsplane/sandbox'
import type { ApprovalDecision, By, Retry, StepError } from './history.js'
import type { TaskId } from './task.js'

/**
 * A signal received by a run, input of the decider. A late or repeated signal for a task that no longer exists changes
 * nothing. `secrets`: secrets contained in an outcome, which is processed unmasked.
 */
export type Signal =
  /** The run has left the queue. */
  | { kind: 'start' }
  /**
   * Result of an `evaluate` task, one value for each template. Never the error that no sandbox process was
   * available.
   */
  | { kind: 'evaluated'; task: TaskId; values: readonly Evaluated[] }
  /** Result of a `perform` task. */
  | { kind: 'performed'; task: TaskId; outcome: Outcome; secrets?: readonly string[] }
  /** Result of a `start_run` task. */
  | { kind: 'child_started'; task: TaskId; outcome: { ok: true; runId: string } | Failure }
  /** The run awaited by a task has ended. */
  | { kind: 'child_ended'; task: TaskId; outcome: Outcome; secrets?: readonly string[] }
  /** The event awaited by a task, in the format of webhooks. */
  | { kind: 'event'; task: TaskId; event: unknown }
  /** A decision on the approval awaited by a task. The sender has checked that this person may decide. */
  | { kind: 'decision'; task: TaskId; decision: ApprovalDecision }
  /** Time has passed. Handles one due timer; to be repeated until nothing changes. */
  | { kind: 'tick' }
  | { kind: 'cancel'; by: By; reason: string | null }
  | ({ kind: 'retry' } & Retry)
  /** The run cannot be continued and becomes `dead`. */
  | { kind: 'abandon'; code: string; message: string }

export type Outcome = { ok: true; output: unknown } | Failure
export interface Failure {
  ok: false
  error: StepError
}
