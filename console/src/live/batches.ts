export interface Timers {
  /** Calls `call` after `ms` milliseconds; returns a function that cancels the call. */
  after(ms: number, call: () => void): () => void
}

/** A short delay, so that items that arrive together cause only one refetch. */
const firstMs = 50
/** Minimum interval between two refetches of the pages, in milliseconds. */
const betweenMs = 1_000

/**
 * Collects items and passes them on in batches: shortly after the first item, and at most once a second while items
 * arrive.
 */
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
