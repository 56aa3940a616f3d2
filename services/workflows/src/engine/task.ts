import type { EffectStep } from '@opsplane/contracts'
import type { Template } from '@opsplane/sandbox'
import type { Place, Retry, Waiting } from './history.js'

/** Opaque. Identifies a task permanently: unique within a run, over all its attempts. */
export type TaskId = string

/**
 * What has to be in progress in the present state of a run. A task is the same one as long as its `id` is; one that is no
 * longer asked for is given up.
 */
export type Task = { id: TaskId; place: Place } & (
  | Evaluate
  | Perform
  | StartRun
  /** The step waits for a person or an event; the task exists only to be found by it. */
  | { kind: 'await'; waiting: Waiting }
)

/** A run of another workflow, to be started unless there is one of this key. */
interface StartRun {
  kind: 'start_run'
  workflowId: string
  input: unknown
  key: string
  wait: boolean
  /** The run from an earlier attempt that is gone on with instead: retried unless it has completed. */
  goesOn: ({ runId: string } & Pick<Retry, 'newKey' | 'parentAttempt'>) | null
}

/** All templates of a step at once (there may be none): pure, so it is simply repeated after a crash. */
interface Evaluate {
  kind: 'evaluate'
  templates: readonly Template[]
  scope: Record<string, unknown>
}

/**
 * An effect elsewhere. `key` (64 hex digits) is the same in every attempt and after every crash, and after a retry of the run
 * until there is a definite answer; it is another one where the step is done again after that, or a person asks for it.
 */
interface Perform {
  kind: 'perform'
  /** From 1. */
  attempt: number
  step: EffectStep
  input: unknown
  key: string
  timeoutMs: number
}
