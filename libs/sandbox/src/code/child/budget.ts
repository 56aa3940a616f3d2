/** CPU that a run may take, in slices; on a machine with too much to do a slice is as long as it has to be. */
interface Budget {
  /** Milliseconds it has had. */
  readonly usedMs: number
  readonly over: boolean
  /** Measures what `act` takes. */
  slice<Result>(act: () => Result): Result
  /** Whether the current slice is over the limit; cheap, as it is checked all the time. */
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
