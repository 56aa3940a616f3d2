const failuresToOpen = 3
const openMs = 30_000

/**
 * Circuit breaker: opens after several consecutive failures,
 * so that not every search waits for an unreachable endpoint.
 */
export function createBreaker(nowMs: () => number) {
  let failures = 0
  let openUntil = 0
  return {
    isOpen: () => nowMs() < openUntil,
    succeeded() {
      failures = 0
    },
    /** After the open period, a single further failure opens the breaker again. */
    failed() {
      failures++
      if (failures >= failuresToOpen) openUntil = nowMs() + openMs
    },
  }
}
export type Breaker = ReturnType<typeof createBreaker>
