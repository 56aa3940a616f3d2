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

/** A record that triggered an execution, or that it touched. */
export interface TouchedRecord {
  id: string
  /** The slug of its table, or its kind, such as `incident`. */
  table: string
}

/** What never changes about an execution. */
export interface ExecutionIdentity {
  id: string
  tenant: TenantScope
  artifact: { id: string; slug: string; version: number; kind: ArtifactKind }
  type: ExecutionType
  trigger: { type: ExecutionTrigger; id: string | null }
  replayOf: string | null
  /** How many executions and runs have caused one another before it. */
  depth: number
  requestId: string | null
  startedAt: string
}

/** On whose request an execution runs: its calls have no more rights than they, and are bound by their row rules. */
export interface ExecutionCaller {
  /** What the credential they asked with allows; null where no more than their role limits them, as on a schedule. */
  permissions: readonly string[] | null
  people: readonly GrantCaller[]
}

/** How the replica that takes over an execution starts it. */
export interface ExecutionPlan {
  /** Milliseconds, where it is given less than its artifact has. */
  timeoutMs: number | null
  /** Whether it is started again after its worker has died. */
  retryable: boolean
  /** Which export is called, where it is not the default one. */
  entry: string | null
  /** The permissions of its requester; null where it has none. */
  permissions: readonly string[] | null
  /** Who has asked for it; absent where an earlier version of the service has accepted it. */
  callers?: readonly GrantCaller[]
  /** Whether it waits until all that its trigger has begun before it has ended. */
  inTurn?: true
  /** What it is given, where the row does not show all of it: sealed. */
  sealedInput?: string
}

/** What led to an execution; the same key leads to none again. */
export interface ExecutionKey {
  key: string
  fingerprint: string | null
}

/** An execution that is to be there. */
export interface NewExecution {
  identity: ExecutionIdentity
  /** As it is shown. */
  input: JsonValue
  inputMasked: boolean
  /** The replica that starts it right away; null where due work is to find it. */
  owner: string | null
  /** Null where only its lease owner may start it. */
  plan: ExecutionPlan | null
  key: ExecutionKey | null
  records: readonly TouchedRecord[]
}

/** What the code of an execution has given, or thrown. */
export interface Result {
  output: JsonValue
  error: ExecutionError | null
  /** Those that stand in it. */
  secrets?: string[]
}

/** What came of an execution. */
export interface Outcome extends Result {
  status: Exclude<ExecutionStatus, 'running'>
  logs: ExecutionLogEntry[]
  durationMs: number
  memoryPeakMb: number
  /** Beyond the quota of traces: input, output and logs are left out of what is kept. */
  omitted?: true
}

/** An execution that ends, under the lease of its worker. */
export interface EndedExecution {
  identity: ExecutionIdentity
  fence: string
  /** As it is shown. */
  outcome: Outcome
  /** Its result as the caller gets it, sealed; null where that is what is shown. */
  sealedResult: string | null
  completedAt: string
  /** As it is shown; undefined: as it was. */
  input: JsonValue | undefined
  records: readonly TouchedRecord[]
}
