/** A loaded page of a list: its number of rows and the cursor of the next page. */
export interface KnownPage {
  after: unknown
  count: number
  lastKey: string | undefined
  /** `undefined` for the last page. */
  next: unknown
}

/** Number of rows before and after the visible ones that are kept loaded. */
const margin = 25

/**
 * Indexes of the pages to keep: the first one (to detect new rows), those around the visible rows, and the next one to
 * load.
 */
export function computeVisiblePages(known: readonly KnownPage[], first: number, last: number): number[] {
  const pageIndexes = new Set([0])
  let start = 0
  known.forEach(({ count }, index) => {
    if (start <= last + margin && start + count > first - margin) pageIndexes.add(index)
    start += count
  })
  const isMore = known.length === 0 || known.at(-1)?.next !== undefined
  if (isMore && last + margin >= start) pageIndexes.add(known.length)
  return [...pageIndexes].sort((one, other) => one - other)
}

/** The rows of a page as first loaded. Rows that moved up since, because others left, are already part of the next page. */
export function selectRows<Item>(
  items: readonly Item[],
  known: KnownPage | undefined,
  keyOf: (item: Item) => string,
): readonly Item[] {
  const end = known === undefined ? -1 : items.findIndex((item) => keyOf(item) === known.lastKey)
  return end === -1 ? items : items.slice(0, end + 1)
}

/**
 * The current rows of a page, and those that have left the list: rows missing before the last row still present. Rows
 * after it may have moved to another page.
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

/** Number of new rows at the beginning of the current list. */
export function countFresh(shown: readonly string[], now: readonly string[]): number {
  const known = new Set(shown)
  const firstKnown = now.findIndex((key) => known.has(key))
  // Without a common row, the whole first page is new.
  return firstKnown === -1 ? now.length : firstKnown
}
