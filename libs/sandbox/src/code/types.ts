/** A value as it crosses into a child and back. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What an artifact may use; the supervisor enforces each of them from outside as well. */
export interface CodeLimits {
  /** Time in which it computes, in milliseconds. */
  cpuMs: number
  /** From its start to its end, waits for host functions included, in milliseconds. */
  wallMs: number
  memoryMb: number
  inputBytes: number
  outputBytes: number
  logBytes: number
  /** Calls of host functions in all, and at once. */
  hostCalls: number
  hostCallsAtOnce: number
}

export interface LogEntry {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  data: Json
  /** ISO 8601 in UTC, with milliseconds. */
  ts: string
}

/** A call that the code makes outside, such as `http` with `[{ url }]`. */
export interface HostCall {
  name: string
  args: Json[]
}

/** Rejects with a `HostError` for what the code may see and catch; anything else is an internal error to it. */
export type HostFunctions = (call: HostCall, signal: AbortSignal) => Promise<Json>

export class HostError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: Json = null,
  ) {
    super(message)
  }
}

export interface CodeRequest {
  /** A child serves one tenant, and no other afterwards. */
  tenant: string
  /** A module as `compile` gives it. */
  code: string
  /** Which of its exports is called; `default` unless given. */
  entry?: string | undefined
  args: Json[]
  limits: CodeLimits
  /** What the code finds as `host.context`. */
  context?: Json | undefined
  /** Names the code sees as functions of its `host`, dots for objects within each other; no other reaches `host`. */
  functions: readonly string[]
  /** Names of further functions that refuse every call, each with its reason. */
  refused?: Readonly<Record<string, string>> | undefined
  host: HostFunctions
  /** Ends it as `cancelled`. */
  signal?: AbortSignal | undefined
}

export interface CodeError {
  code: string
  message: string
  /** In the lines of the source that was compiled, with the causes. */
  stack: string
  /** What the code has thrown, where that is an object: what it says of itself. */
  thrown?: { name: string; code: string | null; cause: string | null }
}

export interface CodeOutcome {
  status: 'completed' | 'failed' | 'timeout' | 'cancelled'
  output: Json
  error: CodeError | null
  logs: LogEntry[]
  /** Whether log entries were left out for `logBytes`. */
  logsTruncated: boolean
  durationMs: number
  cpuMs: number
  memoryPeakMb: number
}

/** One fault in a source, by lines and columns from 1. */
export interface Diagnostic {
  message: string
  line: number
  column: number
}

export type Compiled = { ok: true; code: string } | { ok: false; diagnostics: Diagnostic[] }

export interface CodeRunner {
  /** Never rejects for what the code does; only when the pool is closed or overloaded, with a `PoolError`. */
  run(request: CodeRequest): Promise<CodeOutcome>
  /** TypeScript or JavaScript (one ES module, nothing imported but `@opsplane/sdk`) to what `run` takes, in a child as well. */
  compile(request: { tenant: string; source: string; fileName: string }): Promise<Compiled>
  close(): Promise<void>
}
