/** Of the sliced works of the process that have used up their turn of the event loop: in the order in which they continue. */
const waiting: (() => void)[] = []
let turnStartedAt: number | undefined

/**
 * Divides long work on an event loop that others share: await the returned function after each step. It yields to the loop once
 * the sliced works of this process have computed for `sliceMs` in the current turn. Together they have one slice a turn,
 * however many there are: with a slice each, a dozen requests would block the loop for a dozen slices.
 */
export function createSlices(sliceMs = 10): () => Promise<void> {
  return async () => {
    turnStartedAt ??= startTurn()
    if (performance.now() - turnStartedAt >= sliceMs)
      await new Promise<void>((resume) => waiting.push(resume))
  }
}

function startTurn(): number {
  setImmediate(startNextTurn)
  return performance.now()
}

function startNextTurn(): void {
  const resume = waiting.shift()
  turnStartedAt = resume && startTurn()
  resume?.()
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
