import type {
  ArtifactKind,
  ExecutionError,
  ExecutionLogEntry,
  ExecutionStatus,
  ExecutionTrigger,
  ExecutionType,
  GrantCaller,
  JsonValue,
  TenantScope,
} from '@opsplane/contracts'

/** A record that triggered an execution or was touched by it. */
export interface TouchedRecord {
  id: string
  /** Slug of the record's table, or its kind, such as `incident`. */
  table: string
}

/** The immutable data of an execution. */
export interface ExecutionIdentity {
  id: string
  tenant: TenantScope
  artifact: { id: string; slug: string; version: number; kind: ArtifactKind }
  type: ExecutionType
  trigger: { type: ExecutionTrigger; id: string | null }
  replayOf: string | null
  /** Number of executions and runs in its chain of causes. */
  depth: number
  requestId: string | null
  startedAt: string
}

/**
 * The callers on whose request an execution runs. Its calls have no more rights than these callers, and their row rules
 * apply.
 */
export interface ExecutionCaller {
  /** Permissions of the credential; `null` if only the role limits the caller, as on a schedule. */
  permissions: readonly string[] | null
  people: readonly GrantCaller[]
}

/** How a replica that takes over an execution starts it. */
export interface ExecutionPlan {
  /** In milliseconds, if shorter than the artifact's limit. */
  timeoutMs: number | null
  /** Whether it is started again after its worker has crashed. */
  retryable: boolean
  /** The export to call, if it is not the default one. */
  entry: string | null
  /** Permissions of the requester; `null` if there is none. */
  permissions: readonly string[] | null
  /** The people who requested it; absent if it was accepted by an earlier version of the service. */
  callers?: readonly GrantCaller[]
  /** Whether it waits for all earlier executions of the same trigger to end. */
  inTurn?: true
  /** The sealed input, if the row does not show all of it. */
  sealedInput?: string
}

/** Identifies the request or event; the same key never leads to a second execution. */
export interface ExecutionKey {
  key: string
  fingerprint: string | null
}

/** An execution to be created. */
export interface NewExecution {
  identity: ExecutionIdentity
  /** The input as shown to users. */
  input: JsonValue
  inputMasked: boolean
  /** The replica that starts it immediately; `null` if it is left to the due-work queue. */
  owner: string | null
  /** `null` if only the lease owner may start it. */
  plan: ExecutionPlan | null
  key: ExecutionKey | null
  records: readonly TouchedRecord[]
}

/** The value returned or the error thrown by the code. */
export interface Result {
  output: JsonValue
  error: ExecutionError | null
  /** Secrets contained in the result. */
  secrets?: string[]
}

/** The final state of an execution. */
export interface Outcome extends Result {
  status: Exclude<ExecutionStatus, 'running'>
  logs: ExecutionLogEntry[]
  durationMs: number
  memoryPeakMb: number
  /** The trace quota is exhausted: input, output and logs are not stored. */
  omitted?: true
}

/** An execution that ends, under the lease of its worker. */
export interface EndedExecution {
  identity: ExecutionIdentity
  fence: string
  /** The outcome as shown to users. */
  outcome: Outcome
  /** The sealed result for the caller; `null` if the shown result is complete. */
  sealedResult: string | null
  completedAt: string
  /** The input as shown to users; `undefined`: unchanged. */
  input: JsonValue | undefined
  records: readonly TouchedRecord[]
}
