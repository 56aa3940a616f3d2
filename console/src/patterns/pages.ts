/** A page of a list that was read once: how many rows it has, and where the one after it begins. */
export interface KnownPage {
  after: unknown
  count: number
  lastKey: string | undefined
  /** Undefined where it is the last one. */
  next: unknown
}

/** Rows before those in sight, and after them, that are kept ready. */
const margin = 25

/** The pages that are kept for the rows in sight: the first, which new rows are seen by, those around them, and the next to be read. */
export function computeVisiblePages(known: readonly KnownPage[], first: number, last: number): number[] {
  const wanted = new Set([0])
  let start = 0
  known.forEach(({ count }, index) => {
    if (start <= last + margin && start + count > first - margin) wanted.add(index)
    start += count
  })
  const isMore = known.length === 0 || known.at(-1)?.next !== undefined
  if (isMore && last + margin >= start) wanted.add(known.length)
  return [...wanted].sort((one, other) => one - other)
}

/** The rows of a page as it was read first. What has moved up since, as rows have left, is on the page after it already. */
export function selectRows<Item>(
  items: readonly Item[],
  known: KnownPage | undefined,
  keyOf: (item: Item) => string,
): readonly Item[] {
  const end = known === undefined ? -1 : items.findIndex((item) => keyOf(item) === known.lastKey)
  return end === -1 ? items : items.slice(0, end + 1)
}

/**
 * The rows of a page as they are now, and which of them have left the list: those before the last one that is in it still. What
 * lies beyond may be on another page now.
 */
export function mergeNow<Item>(
  shown: readonly Item[],
  now: readonly Item[],
  keyOf: (item: Item) => string,
): { rows: Item[]; left: string[] } {
  const present = new Map(now.map((item) => [keyOf(item), item]))
  const lastPresent = shown.findLastIndex((item) => present.has(keyOf(item)))
  const left = shown.slice(0, lastPresent + 1).filter((item) => !present.has(keyOf(item)))
  return { rows: shown.map((item) => present.get(keyOf(item)) ?? item), left: left.map(keyOf) }
}

/** How many rows at the beginning of the list, as it is now, are not among those that are shown. */
export function countFresh(shown: readonly string[], now: readonly string[]): number {
  const known = new Set(shown)
  const firstKnown = now.findIndex((key) => known.has(key))
  // Without any row in common the whole first page has come since.
  return firstKnown === -1 ? now.length : firstKnown
}
