import type { Timers } from '@opsplane/runtime'

/** Wakes the poller when something is due in Postgres that this replica knows of. */
export interface DueSignal {
  /** Something is due in so many milliseconds; a hint that saves waiting for the next poll. */
  wakeIn(ms: number): void
  /** Until this instant, or what was signalled before it. */
  sleepUntil(next: number): Promise<void>
  /** Ends the present sleep, and every later one. */
  close(): void
}

/** Between two polls at least, whatever wakes it. */
const restMs = 10

export function createDueSignal(timers: Timers): DueSignal {
  const { now } = timers
  let wakeAt = Number.POSITIVE_INFINITY
  let interrupt = () => {}
  let closed = false

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = timers.setTimeout(resolve, ms)
      interrupt = () => {
        timers.clearTimeout(timer)
        resolve()
      }
    })

  return {
    wakeIn(ms) {
      const at = now() + ms
      if (at >= wakeAt) return
      wakeAt = at
      interrupt()
    },
    async sleepUntil(next) {
      const earliest = now() + restMs
      for (;;) {
        const left = Math.max(Math.min(next, wakeAt), earliest) - now()
        if (left <= 0 || closed) break
        await sleep(left)
      }
      wakeAt = Number.POSITIVE_INFINITY
    },
    close() {
      closed = true
      interrupt()
    },
  }
}
