export interface Timers {
  /** Calls it after so many milliseconds; gives back how to call it off. */
  after(ms: number, call: () => void): () => void
}

/** At once would ask for each of many that come together. */
const firstMs = 50
/** However much arrives, pages are read again no more often. */
const betweenMs = 1_000

/** Collects what is put in and passes it on together: soon where nothing was lately, else once a second. */
export function createBatches<Item>(timers: Timers, pass: (items: readonly Item[]) => void) {
  let waiting: Item[] = []
  let isResting = false
  let callOff: (() => void) | undefined
  const turn = () => {
    const items = waiting
    waiting = []
    isResting = items.length > 0
    callOff = isResting ? timers.after(betweenMs, turn) : undefined
    if (items.length > 0) pass(items)
  }
  return {
    put(items: readonly Item[]) {
      if (items.length === 0) return
      waiting.push(...items)
      if (!isResting && callOff === undefined) callOff = timers.after(firstMs, turn)
    },
    stop: () => callOff?.(),
  }
}
