import type { ExecutionTrigger, ExecutionType, JsonValue, TenantScope } from '@opsplane/contracts'
import type { Fault } from '@opsplane/json-schema'
import type { HostFunctions } from '@opsplane/sandbox'
import type { LoadedArtifact } from '../artifact/loader.js'
import type { ExecutionCaller, ExecutionKey, TouchedRecord } from '../execution/model.js'

/** Where an output is not what it should be, and how. */
export type OutputFault = Pick<Fault, 'path' | 'message'>

/** A request for an execution. */
export interface ExecutionRequest {
  tenant: TenantScope
  artifact: LoadedArtifact
  type: ExecutionType
  trigger: { type: ExecutionTrigger; id: string | null }
  /** As its schema lets it in. */
  input: JsonValue
  /** ISO: when it is asked for. */
  now: string
  requestId: string | null
  /** Of the span that asks for it, where it is traced. */
  traceparent?: string | undefined
  /** Absent where it runs by itself, as on a schedule: then its owner's rights alone apply. */
  caller?: ExecutionCaller
  replayOf?: string
  /** How many executions and runs have caused one another before it. */
  depth?: number
  /** Milliseconds, where it is to have less than its artifact allows. */
  timeoutMs?: number | undefined
  /** An export that is called in place of the default one. */
  entry?: string
  /** The same key leads to one execution. */
  key?: ExecutionKey | null
  /** Whether one that is accepted waits until all that its trigger has begun before it has ended. */
  inTurn?: boolean
  /** Records that triggered it. */
  records?: readonly TouchedRecord[]
  /** What is wrong with an output besides its schema; the execution has failed then. */
  faultOf?: (output: JsonValue) => OutputFault | undefined
  /** In place of everything outside: recorded calls of a test. */
  hostOverride?: HostFunctions
  /** What `host.context.now` says, where it is not the present. */
  contextNow?: string
}
