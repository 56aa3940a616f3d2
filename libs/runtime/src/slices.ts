import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Divides long work on a loop that others share: what is returned is awaited after each step, and gives others their turn once
 * `sliceMs` have passed since the last one. A slice is as long as that and one step.
 */
export function createSlices(sliceMs = 10): () => Promise<void> {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < sliceMs) return
    await nextTurn()
    startedAt = performance.now()
  }
}

/**
 * For work that comes from many requests at once, each of it short: does it a slice at a time, in the order it came, so that what
 * else waits for the loop has its turn in between. Where there is little it is done at once.
 */
export function createTurns(sliceMs = 10): <T>(work: () => T) => Promise<T> {
  const waiting: (() => void)[] = []
  let spentMs = 0
  let isCounting = false

  const spend = (work: () => void) => {
    const startedAt = performance.now()
    work()
    spentMs += performance.now() - startedAt
    if (!isCounting) {
      isCounting = true
      setImmediate(begin)
    }
  }
  const begin = () => {
    isCounting = false
    spentMs = 0
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      spend(work)
      if (spentMs >= sliceMs) return
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const settle = () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      if (isCounting && (waiting.length > 0 || spentMs >= sliceMs)) waiting.push(settle)
      else spend(settle)
    })
}
