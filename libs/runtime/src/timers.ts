/** A timer that was started and can be cleared. */
export interface Timer {
  /** It keeps no process alive. */
  unref(): unknown
}

/**
 * The passing of time, as a process sees it: functions of Node by their names. It is an argument of what a simulation
 * runs (ADR 143), and `systemTimers` everywhere else.
 */
export interface Timers {
  /** Monotonic milliseconds. */
  now(): number
  /** The Unix time of monotonic 0, in milliseconds. */
  readonly timeOrigin: number
  /** Unix milliseconds. */
  unixMs(): number
  setTimeout(act: () => void, ms: number): Timer
  clearTimeout(timer: Timer | undefined): void
  setInterval(act: () => void, ms: number): Timer
  clearInterval(timer: Timer | undefined): void
  setImmediate(act: () => void): void
}

/** Node's globals, looked up at each call, as tests replace them. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  get timeOrigin() {
    return performance.timeOrigin
  },
  unixMs: () => Date.now(),
  setTimeout: (act, ms) => setTimeout(act, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  setInterval: (act, ms) => setInterval(act, ms),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  setImmediate: (act) => {
    setImmediate(act)
  },
}
