import type { JsonValue, TenantScope } from '@opsplane/contracts'
import type { LoadedArtifact } from '../../artifact/loader.js'
import type { ExecutionCaller, TouchedRecord } from '../../execution/model.js'

/** One call of a host function, and the execution it is made in. */
export interface HostContext {
  executionId: string
  /** How many runs and executions have caused it. */
  depth: number
  tenant: TenantScope
  artifact: Pick<LoadedArtifact, 'id' | 'slug' | 'permissions' | 'grant' | 'ownerId'>
  /** On whose request it runs; undefined where it runs by itself, and its owner's rights alone apply. */
  caller?: ExecutionCaller | undefined
  /** Of the span it is made in, where it is traced. */
  traceparent?: string | undefined
  /** The same for the same call of an execution that is begun again, where its code does the same again. */
  key: string
  /** Until the execution has to end. */
  timeoutMs: number
  signal: AbortSignal
  /** Notes a record that the execution has to do with. */
  touch(record: TouchedRecord): void
  /** Notes values that no log shows. */
  conceal(values: readonly string[]): void
}

/** Rejects with a `HostError` for what the code may see. */
export type HostFunction = (context: HostContext, argument: unknown) => Promise<JsonValue>
