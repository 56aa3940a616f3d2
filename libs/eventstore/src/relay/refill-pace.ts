import { retryDelayMs } from '@opsplane/runtime'

/**
 * Spaces the refills of a stream by their outcomes: a refill that the stream lost again is not repeated
 * immediately, and each further one waits longer. Times are monotonic milliseconds.
 */
export interface RefillPace {
  /** Number of consecutive refills after which the stream still lacked published events; 0 after one that it kept. */
  readonly failed: number
  /** Called when the stream lacks published events. Returns how long to wait before the refill, 0 for not at all. */
  lost(identity: string, nowMs: number): number
  refilled(identity: string, nowMs: number): void
  /** Called when the stream has everything that was published. */
  sound(nowMs: number): void
}

/** The stream must be complete this long after a refill: messages that were only in its memory are lost by then. */
const provenAfterMs = 15_000
const spacing = { strategy: 'exponential', baseMs: 1_000, maxMs: 60_000 } as const

export function createRefillPace(): RefillPace {
  /** The last refill, until it is known that the stream has kept it. */
  let open: { identity: string; at: number; hasFailed: boolean } | undefined
  let failed = 0
  return {
    get failed() {
      return failed
    },
    lost(identity, nowMs) {
      if (!open) return 0
      if (!open.hasFailed) failed++
      open.hasFailed = true
      // A different stream than the one that lost the events may keep them.
      if (identity !== open.identity) return 0
      return Math.max(0, open.at + retryDelayMs({ attempt: failed, ...spacing }) - nowMs)
    },
    refilled(identity, nowMs) {
      open = { identity, at: nowMs, hasFailed: false }
    },
    sound(nowMs) {
      if (!open || nowMs - open.at < provenAfterMs) return
      open = undefined
      failed = 0
    },
  }
}
