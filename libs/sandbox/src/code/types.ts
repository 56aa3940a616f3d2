/** A value that can be passed to a child and back. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** Limits of an artifact; the supervisor also enforces each of them from outside. */
export interface CodeLimits {
  /** CPU time, in milliseconds. */
  cpuMs: number
  /** Time from start to end including host calls, in milliseconds. */
  wallMs: number
  memoryMb: number
  inputBytes: number
  outputBytes: number
  logBytes: number
  /** Maximum number of host calls, in total and concurrently. */
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

/** A call of a host function by the code, such as `http` with `[{ url }]`. */
export interface HostCall {
  name: string
  args: Json[]
}

/** Rejects with a `HostError` that the code can see and catch; any other error appears as an internal error. */
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
  /** A child serves one tenant only, during its whole life. */
  tenant: string
  /** A module compiled by `compile`. */
  code: string
  /** The export that is called; defaults to `default`. */
  entry?: string | undefined
  args: Json[]
  limits: CodeLimits
  /** Value of `host.context`. */
  context?: Json | undefined
  /** Names of functions that the code sees on its `host`, with dots for nested objects; no other call reaches `host`. */
  functions: readonly string[]
  /** Names of further functions that reject every call, each with its reason. */
  refused?: Readonly<Record<string, string>> | undefined
  host: HostFunctions
  /** Ends the run as `cancelled`. */
  signal?: AbortSignal | undefined
}

export interface CodeError {
  code: string
  message: string
  /** With positions in the compiled source, and with the causes. */
  stack: string
  /** Name, code and cause of a thrown object. */
  thrown?: { name: string; code: string | null; cause: string | null }
}

export interface CodeOutcome {
  status: 'completed' | 'failed' | 'timeout' | 'cancelled'
  output: Json
  error: CodeError | null
  logs: LogEntry[]
  /** Whether log entries were dropped because of `logBytes`. */
  logsTruncated: boolean
  durationMs: number
  cpuMs: number
  memoryPeakMb: number
}

/** A fault in a source; line and column start at 1. */
export interface Diagnostic {
  message: string
  line: number
  column: number
}

export type Compiled = { ok: true; code: string } | { ok: false; diagnostics: Diagnostic[] }

export interface CodeRunner {
  /** Never rejects because of the code; rejects with a `PoolError` only if the pool is closed or overloaded. */
  run(request: CodeRequest): Promise<CodeOutcome>
  /**
   * Compiles TypeScript or JavaScript to code for `run`, in a child process. The source must be one ES module that imports
   * nothing but `@opsplane/sdk`.
   */
  compile(request: { tenant: string; source: string; fileName: string }): Promise<Compiled>
  close(): Promise<void>
}
