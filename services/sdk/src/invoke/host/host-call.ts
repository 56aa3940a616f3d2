import type { JsonValue, TenantScope } from '@opsplane/contracts'
import type { LoadedArtifact } from '../../artifact/loading.js'
import type { TouchedRecord } from '../../execution/model.js'

/** One call of a host function, and the execution it is made in. */
export interface HostContext {
  executionId: string
  /** How many runs and executions have caused it. */
  depth: number
  tenant: TenantScope
  artifact: Pick<LoadedArtifact, 'id' | 'slug' | 'permissions' | 'grant' | 'ownerId'>
  /** Of whoever has asked for the execution; undefined where nobody has, and its owner's are what counts. */
  permissions?: readonly string[] | undefined
  /** Of the span it is made in, where somebody follows it. */
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
