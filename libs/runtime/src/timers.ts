/** A started timer, which can be cleared. */
export interface Timer {
  /** Lets the process end while the timer is running. */
  unref(): unknown
}

/**
 * The time functions of Node, under their own names. Simulations pass their own (ADR 143); everything else uses
 * `systemTimers`.
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

/** Node's globals, looked up at each call because tests replace them. */
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
