import { delay, systemTimers, type Timers } from '@opsplane/runtime'

/** Allows a polling loop to be woken early and to be closed. */
export interface Waker {
  wake(): void
  /** Resolves after the time, or on wake(), including a wake() since the last wait. */
  wait(ms: number): Promise<void>
  /** Resolves after the time; only close() cuts it short. */
  pause(ms: number): Promise<void>
  close(): void
  closing: AbortSignal
}

export function createWaker(timers: Timers = systemTimers): Waker {
  const closing = new AbortController()
  let woken = false
  let interrupt: () => void = () => {}
  const wake = () => {
    woken = true
    interrupt()
  }
  return {
    wake,
    async wait(ms) {
      if (!woken && !closing.signal.aborted) {
        // Every commit wakes the loop. An AbortController would create an error with a stack trace each time,
        // so none is
        // used here.
        await new Promise<void>((resolve) => {
          const timer = timers.setTimeout(resolve, ms)
          interrupt = () => {
            timers.clearTimeout(timer)
            resolve()
          }
        })
        interrupt = () => {}
      }
      woken = false
    },
    pause: (ms) => delay(ms, closing.signal, timers),
    close() {
      closing.abort()
      wake()
    },
    closing: closing.signal,
  }
}
