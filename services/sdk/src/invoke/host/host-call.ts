import type { JsonValue, TenantScope } from '@opsplane/contracts'
import type { LoadedArtifact } from '../../artifact/loader.js'
import type { ExecutionCaller, TouchedRecord } from '../../execution/model.js'

/** A call of a host function with the execution that makes it. */
export interface HostContext {
  executionId: string
  /** Number of runs and executions in its chain of causes. */
  depth: number
  tenant: TenantScope
  artifact: Pick<LoadedArtifact, 'id' | 'slug' | 'permissions' | 'grant' | 'ownerId'>
  /** The caller who requested the execution; `undefined` if there is none, and only the rights of the owner apply. */
  caller?: ExecutionCaller | undefined
  /** Trace context of the current span, if traced. */
  traceparent?: string | undefined
  /** Idempotency key: the same for the same call when an execution is restarted and its code repeats the call. */
  key: string
  /** Milliseconds until the execution must end. */
  timeoutMs: number
  signal: AbortSignal
  /** Records that the execution has touched a record. */
  touch(record: TouchedRecord): void
  /** Masks these values in all logs. */
  conceal(values: readonly string[]): void
}

/** Rejects with a `HostError` whose content is visible to the code. */
export type HostFunction = (context: HostContext, argument: unknown) => Promise<JsonValue>
