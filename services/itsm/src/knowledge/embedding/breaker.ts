const failuresToOpen = 3
const openMs = 30_000

/** After failures in a row nothing is tried for a while, so that every search need not wait for a dead endpoint. */
export function createBreaker(nowMs: () => number) {
  let failures = 0
  let openUntil = 0
  return {
    isOpen: () => nowMs() < openUntil,
    succeeded() {
      failures = 0
    },
    /** Once open and over, a single further failure opens it again. */
    failed() {
      failures++
      if (failures >= failuresToOpen) openUntil = nowMs() + openMs
    },
  }
}
export type Breaker = ReturnType<typeof createBreaker>
