import { retryDelayMs } from '@opsplane/runtime'

/**
 * Spaces the refills of a stream by their outcomes: one that the stream does not keep is not repeated at once, and each
 * further one waits longer. Times are monotonic milliseconds.
 */
export interface RefillPace {
  /** Refills in a row after which the stream still lacked what was published; 0 after one that it kept. */
  readonly failed: number
  /** The stream lacks what was published: how long to wait before it is refilled, 0 for not at all. */
  lost(identity: string, nowMs: number): number
  refilled(identity: string, nowMs: number): void
  /** The stream has what was published. */
  sound(nowMs: number): void
}

/** So long after a refill the stream has to be sound: what only passed through its memory is gone by then. */
const provenAfterMs = 15_000
const spacing = { strategy: 'exponential', baseMs: 1_000, maxMs: 60_000 } as const

export function createRefillPace(): RefillPace {
  /** The last refill, while it is not known to have been kept. */
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
      // Another stream than the one that lost them may keep them.
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
