import type { ExecutionTrigger, ExecutionType, JsonValue, TenantScope } from '@opsplane/contracts'
import type { Fault } from '@opsplane/json-schema'
import type { HostFunctions } from '@opsplane/sandbox'
import type { LoadedArtifact } from '../artifact/loader.js'
import type { ExecutionCaller, ExecutionKey, TouchedRecord } from '../execution/model.js'

/** A fault in an output, with its location. */
export type OutputFault = Pick<Fault, 'path' | 'message'>

/** A request to run an artifact. */
export interface ExecutionRequest {
  tenant: TenantScope
  artifact: LoadedArtifact
  type: ExecutionType
  trigger: { type: ExecutionTrigger; id: string | null }
  /** Valid for the artifact's schema. */
  input: JsonValue
  /** ISO instant of the request. */
  now: string
  requestId: string | null
  /** Trace context of the requesting span, if traced. */
  traceparent?: string | undefined
  /** Absent if there is no caller, as on a schedule: then only the rights of the owner apply. */
  caller?: ExecutionCaller
  replayOf?: string
  /** Number of executions and runs in its chain of causes. */
  depth?: number
  /** In milliseconds, if shorter than the artifact's limit. */
  timeoutMs?: number | undefined
  /** The export to call instead of the default one. */
  entry?: string
  /** The same key leads to only one execution. */
  key?: ExecutionKey | null
  /** Whether an accepted execution waits for all earlier executions of its trigger to end. */
  inTurn?: boolean
  /** Records that triggered it. */
  records?: readonly TouchedRecord[]
  /** Checks the output beyond its schema; a fault fails the execution. */
  faultOf?: (output: JsonValue) => OutputFault | undefined
  /** Replaces all host functions: the recorded calls of a test. */
  hostOverride?: HostFunctions
  /** Value of `host.context.now`, if not the current time. */
  contextNow?: string
}
