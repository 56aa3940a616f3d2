import type { Timers } from '@opsplane/runtime'

/** Between two polls at least, whatever wakes the poller. */
const restMs = 10

/** Wakes the poller when something is due in Postgres that this replica knows of. */
export class DueSignal {
  readonly #timers: Timers
  #wakeAt = Number.POSITIVE_INFINITY
  #interrupt = () => {}
  #closed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Something is due in so many milliseconds; a hint that saves waiting for the next poll. */
  wakeIn(ms: number): void {
    const at = this.#timers.now() + ms
    if (at >= this.#wakeAt) return
    this.#wakeAt = at
    this.#interrupt()
  }

  /** Until this instant, or one that was signalled. */
  async sleepUntil(next: number): Promise<void> {
    const { now } = this.#timers
    const earliest = now() + restMs
    for (;;) {
      const left = Math.max(Math.min(next, this.#wakeAt), earliest) - now()
      if (left <= 0 || this.#closed) break
      await this.#sleep(left)
    }
    this.#wakeAt = Number.POSITIVE_INFINITY
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#timers.setTimeout(resolve, ms)
      this.#interrupt = () => {
        this.#timers.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends the present sleep, and every later one. */
  close(): void {
    this.#closed = true
    this.#interrupt()
  }
}
