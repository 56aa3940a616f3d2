/** A page of one list, the newest first. */
export interface SourcePage<Item> {
  items: readonly Item[]
  hasMore: boolean
}

/** Up to where each list was read: the id of its last item on the pages so far; null where nothing follows. */
export type MergedCursor = Readonly<Record<string, string | null>>

export interface MergedPage<Item> {
  items: Item[]
  /** Undefined on the last page. */
  next: MergedCursor | undefined
}

/**
 * One page of several lists together, the newest first, from a page of as many items of each. Ids begin with a time, and so
 * decide the order, which is that of each list.
 */
export function mergePages<Item extends { id: string }>(
  pages: Readonly<Record<string, SourcePage<Item>>>,
  before: MergedCursor,
  limit: number,
): MergedPage<Item> {
  const all = Object.entries(pages).flatMap(([source, { items }]) => items.map((item) => ({ source, item })))
  all.sort((one, other) => (one.item.id < other.item.id ? 1 : -1))
  const taken = all.slice(0, limit)
  const cursor: Record<string, string | null> = { ...before }
  for (const [source, { items, hasMore }] of Object.entries(pages)) {
    const own = taken.filter((each) => each.source === source)
    const last = own.at(-1)
    if (own.length === items.length && !hasMore) cursor[source] = null
    else if (last !== undefined) cursor[source] = last.item.id
  }
  const isOver = Object.keys(pages).every((source) => cursor[source] === null)
  return { items: taken.map(({ item }) => item), next: isOver ? undefined : cursor }
}
