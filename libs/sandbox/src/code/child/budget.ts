/** CPU time limit of a run, measured in slices. On an overloaded machine a slice may take longer in wall-clock time. */
interface Budget {
  /** CPU time used so far, in milliseconds. */
  readonly usedMs: number
  readonly over: boolean
  /** Runs `act` and counts its CPU time. */
  slice<Result>(act: () => Result): Result
  /** Whether the current slice exceeds the limit; cheap, because it is called very often. */
  isOver(): boolean
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export function createBudget(limitMs: number): Budget {
  let [used, begun, cpuAtBegin, allowed, over] = [0, 0, 0, 0, false]
  return {
    get usedMs() {
      return used
    },
    get over() {
      return over
    },
    slice(act) {
      begun = performance.now()
      cpuAtBegin = cpuMs()
      allowed = limitMs - used
      try {
        return act()
      } finally {
        used += Math.max(0, cpuMs() - cpuAtBegin)
      }
    },
    isOver() {
      const elapsed = performance.now() - begun
      if (elapsed <= allowed) return over
      const left = limitMs - used - (cpuMs() - cpuAtBegin)
      if (left <= 0) over = true
      else allowed = elapsed + left
      return over
    },
  }
}
