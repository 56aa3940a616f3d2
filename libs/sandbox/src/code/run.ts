import type { CodeError, CodeLimits, CodeOutcome, CodeRequest, Json, LogEntry } from './types.js'

/** One invocation, from its request to its outcome. */
export interface Run {
  readonly request: CodeRequest
  readonly limits: CodeLimits
  /** The arguments as JSON. */
  readonly args: string
  /** When the run was requested, as `performance.now()`. */
  readonly since: number
  /** Aborted when the run is settled. */
  readonly signal: AbortSignal
  readonly settled: boolean
  /** Whether the code has called the host; the run cannot be started again then. */
  called: boolean
  hostCalls: number
  underWay: number
  /** Starts the wall-clock limit; `overtime` is called when it expires. */
  begin(overtime: () => void): void
  log(entry: LogEntry, bytes: number): void
  logsTruncated(): void
  /** Discards logs and timers of a lost child, so that another child can start the run. */
  reset(): void
  /** Aborts its host calls; the outcome is set later by `settle`. */
  abort(): void
  settle(outcome: RunOutcome, used?: RunUsage): void
}

export type RunOutcome =
  | { status: 'completed'; output: Json }
  | { status: 'failed' | 'timeout' | 'cancelled'; error: CodeError }

export interface RunUsage {
  cpuMs: number
  memoryMb: number
}

export const failedOutcome = (
  code: string,
  message: string,
  stack = message,
  thrown: CodeError['thrown'] | null = null,
): RunOutcome => ({
  status: 'failed',
  error: { code, message, stack, ...(thrown && { thrown }) },
})

export const cancelledOutcome: RunOutcome = {
  status: 'cancelled',
  error: { code: 'cancelled', message: 'it was cancelled', stack: 'it was cancelled' },
}

/** Outcome with the error `cpu_timeout` or `wall_timeout`. */
export function timeoutOutcome(kind: 'cpu' | 'wall', { cpuMs, wallMs }: CodeLimits): RunOutcome {
  const message =
    kind === 'cpu' ? `it computes for more than ${cpuMs} ms` : `it takes longer than ${wallMs} ms`
  return { status: 'timeout', error: { code: `${kind}_timeout`, message, stack: message } }
}

export function createRun(request: CodeRequest, args: string, done: (outcome: CodeOutcome) => void): Run {
  const { limits } = request
  const abortController = new AbortController()
  let [logs, logBytes, truncated]: [LogEntry[], number, boolean] = [[], 0, false]
  let [settled, begun]: [boolean, number | undefined] = [false, undefined]
  let timer: NodeJS.Timeout | undefined
  return {
    request,
    limits,
    args,
    since: performance.now(),
    signal: abortController.signal,
    get settled() {
      return settled
    },
    called: false,
    hostCalls: 0,
    underWay: 0,
    begin(overtime) {
      begun = performance.now()
      clearTimeout(timer)
      timer = setTimeout(overtime, limits.wallMs)
    },
    log(entry, bytes) {
      logBytes += bytes
      if (logBytes > limits.logBytes) truncated = true
      else logs.push(entry)
    },
    logsTruncated() {
      truncated = true
    },
    reset() {
      clearTimeout(timer)
      ;[logs, logBytes, truncated] = [[], 0, false]
    },
    abort: () => abortController.abort(),
    settle(outcome, used = { cpuMs: 0, memoryMb: 0 }) {
      if (settled) return
      settled = true
      clearTimeout(timer)
      done({
        status: outcome.status,
        output: outcome.status === 'completed' ? outcome.output : null,
        error: outcome.status === 'completed' ? null : outcome.error,
        logs,
        logsTruncated: truncated,
        durationMs: begun === undefined ? 0 : performance.now() - begun,
        cpuMs: used.cpuMs,
        memoryPeakMb: used.memoryMb,
      })
      abortController.abort()
    },
  }
}
