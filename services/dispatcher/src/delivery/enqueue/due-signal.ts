import type { Timers } from '@opsplane/runtime'

/** Minimum milliseconds between two polls, whatever wakes the poller. */
const restMs = 10

/** Wakes the poller when this replica knows that something is due in Postgres. */
export class DueSignal {
  readonly #timers: Timers
  #wakeAt = Number.POSITIVE_INFINITY
  #interrupt = () => {}
  #closed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Announces that something is due in `ms` milliseconds. Only saves waiting for the next regular poll. */
  wakeIn(ms: number): void {
    const at = this.#timers.now() + ms
    if (at >= this.#wakeAt) return
    this.#wakeAt = at
    this.#interrupt()
  }

  /** Sleeps until this instant, or until an earlier announced one. */
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

  /** Ends the current sleep and makes later ones return immediately. */
  close(): void {
    this.#closed = true
    this.#interrupt()
  }
}
