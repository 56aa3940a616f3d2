import type { EffectStep } from '@opsplane/contracts'
import type { Template } from '@opsplane/sandbox'
import type { Place, Retry, Waiting } from './history.js'

/** Opaque and permanent identifier of a task: unique within a run, over all its attempts. */
export type TaskId = string

/**
 * Work that must be in progress in the current state of a run. The `id` identifies the task; a task no longer listed is
 * abandoned.
 */
export type Task = { id: TaskId; place: Place } & (
  | Evaluate
  | Perform
  | StartRun
  /** The step waits for a person or an event; the task exists only so that the input can be assigned to it. */
  | { kind: 'await'; waiting: Waiting }
)

/** A run of another workflow, to be started unless one with this key exists. */
interface StartRun {
  kind: 'start_run'
  workflowId: string
  input: unknown
  key: string
  wait: boolean
  /** A run from an earlier attempt to continue instead: it is retried unless it has completed. */
  goesOn: ({ runId: string } & Pick<Retry, 'newKey' | 'parentAttempt'>) | null
}

/** Evaluates all templates of a step together (there may be none). Pure, so it is repeated after a crash. */
interface Evaluate {
  kind: 'evaluate'
  templates: readonly Template[]
  scope: Record<string, unknown>
}

/**
 * An external effect. `key` (64 hex digits) is the same in every attempt, after every crash, and after a retry of the
 * run until there is a definite outcome. It changes if the step is repeated after that, or if a person requests a new
 * one.
 */
interface Perform {
  kind: 'perform'
  /** Starts at 1. */
  attempt: number
  step: EffectStep
  input: unknown
  key: string
  timeoutMs: number
}
