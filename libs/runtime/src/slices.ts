/** Sliced work of this process that waits for its next turn of the event loop, in the order in which it continues. */
const waiting: (() => void)[] = []
let turnStartedAt: number | undefined

/**
 * Divides long work on a shared event loop: await the returned function after each step. It yields to the loop
 * once the sliced work of this process has computed for `sliceMs` in the current turn. All sliced work shares one
 * slice per turn: with a slice each, a dozen requests would block the loop for a dozen slices.
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
 * For short work of many concurrent requests: runs it one slice at a time, in order of arrival, so that other work
 * gets the event loop in between. If there is little work, it runs immediately.
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
