import { delay, systemTimers, type Timers } from '@opsplane/runtime'

/** Lets a polling loop be woken early and be closed. */
export interface Waker {
  wake(): void
  /** Until the time is over, or wake(), which also counts when it came since the last wait. */
  wait(ms: number): Promise<void>
  /** Until the time is over; only close() cuts it short. */
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
        // Every commit wakes: without an AbortController, whose abort makes an error with a stack each time.
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
