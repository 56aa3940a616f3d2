import { type UseQueryResult, useQueries, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ListPage } from '../api/queries.js'
import { computeVisiblePages, countFresh, type KnownPage, mergeNow, selectRows } from './pages.js'

export interface ListSource<Item> {
  /** Identifies the list, including place and filters. */
  queryKey: readonly unknown[]
  read(after: unknown, signal: AbortSignal): Promise<ListPage<Item>>
  keyOf(item: Item): string
}

/** State of a list for its page. */
export interface ListView<Item> {
  /** One entry per known row; `undefined` for rows far out of view, whose data is not kept. */
  items: readonly (Item | undefined)[]
  /** Keys of rows that have left the list; they stay visible until the person scrolls on. */
  left: ReadonlySet<string>
  error: unknown
  isLoading: boolean
  /** Time of the last successful response, if requests fail now and older data is shown. */
  staleSinceMs: number | undefined
  hasMore: boolean
  /** Number of new rows, which are hidden until the person shows them. */
  freshCount: number
  showFresh(): void
  /** Reports which rows are visible. */
  show(first: number, last: number): void
  reload(): void
}

/** A list that is loaded as a whole. */
export function wholeList<Item>(
  { data, error, isPending, isError, dataUpdatedAt, refetch }: UseQueryResult<unknown>,
  items: readonly Item[],
): ListView<Item> {
  const reload = () => void refetch()
  return {
    ...{ items, left: new Set(), error: error ?? undefined, isLoading: isPending, hasMore: false },
    staleSinceMs: isError && data !== undefined ? dataUpdatedAt : undefined,
    ...{ freshCount: 0, showFresh: reload, reload, show: () => undefined },
  }
}

/** Pages out of view for longer are evicted, and loaded again when they are needed. In milliseconds. */
const keptMs = 30_000
/** Pages loaded within this time are not loaded again to check for changes. In milliseconds. */
const freshMs = 10_000

/**
 * A list that loads pages while scrolling and keeps only those around the visible rows. Each page is kept twice: as
 * first loaded, which fixes its rows, and in its current state, refetched after each change. Rows are therefore updated
 * in place, and new rows wait, so that nothing moves under the pointer.
 */
export function useList<Item>({ queryKey, read, keyOf }: ListSource<Item>): ListView<Item> {
  const queries = useQueryClient()
  const { state, update } = useListState(JSON.stringify(queryKey))
  const { turn, known, sight } = state
  const pageIndexes = computeVisiblePages(known, sight.first, sight.last)
  const afterOf = (index: number) => known[index]?.after ?? known[index - 1]?.next
  const queryOf = (kind: 'page' | 'now', after: unknown, ofTurn: number) => ({
    queryKey: [...queryKey, kind, ofTurn, after ?? null],
    queryFn: ({ signal }: { signal: AbortSignal }) => read(after, signal),
  })
  const fixed = useQueries({
    queries: pageIndexes.map((index) => ({
      ...queryOf('page', afterOf(index), turn),
      ...{ staleTime: Number.POSITIVE_INFINITY, gcTime: keptMs, meta: { isFixed: true } },
    })),
  })
  const now = useQueries({
    queries: pageIndexes.map((index, at) => ({
      ...queryOf('now', afterOf(index), turn),
      enabled: fixed[at]?.data !== undefined,
      initialData: () => fixed[at]?.data,
      initialDataUpdatedAt: () => fixed[at]?.dataUpdatedAt,
      ...{ staleTime: freshMs, gcTime: 0 },
    })),
  })

  const next = known.length
  const loadedPage = fixed[pageIndexes.indexOf(next)]?.data
  useEffect(() => {
    if (loadedPage === undefined) return
    const last = loadedPage.items.at(-1)
    const lastKey = last && keyOf(last)
    const page = { after: afterOf(next), count: loadedPage.items.length, lastKey, next: loadedPage.next }
    update((state) => (state.known.length === next ? { known: [...state.known, page] } : {}))
  })
  const view = assemble({
    ...{ known, wanted: pageIndexes, keyOf },
    fixed: fixed.map(({ data }) => data),
    now: now.map(({ data }) => data),
  })
  const begin = async () => {
    // The old rows stay until their replacements are loaded.
    await queries.fetchQuery(queryOf('page', undefined, turn + 1)).catch(() => undefined)
    update((state) => (state.turn === turn ? initialState(turn + 1) : {}))
  }
  const isEmptyNoMore = known[0]?.count === 0 && view.freshCount > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: an empty list has no rows that could move.
  useEffect(() => {
    if (isEmptyNoMore) void begin()
  }, [isEmptyNoMore])
  const [head, headNow] = [fixed[0], now[0]]
  return {
    ...view,
    error: head?.error ?? undefined,
    isLoading: head?.isPending ?? true,
    staleSinceMs: headNow?.isError ? headNow.dataUpdatedAt : undefined,
    hasMore: known.length === 0 || known.at(-1)?.next !== undefined,
    showFresh: () => void begin(),
    reload: () => void begin(),
    show: (first, last) => {
      const isSame = String(computeVisiblePages(known, first, last)) === String(pageIndexes)
      if (!isSame) update(() => ({ sight: { first, last } }))
    },
  }
}

interface ListState {
  /** Number of restarts of the list. */
  turn: number
  known: readonly KnownPage[]
  sight: { first: number; last: number }
}
const initialState = (turn: number): ListState => ({ turn, known: [], sight: { first: 0, last: 0 } })

/** State of one list; for another `of`, for example after a filter change, the state starts empty. */
function useListState(of: string) {
  const [kept, setKept] = useState(() => ({ of, state: initialState(0) }))
  const stateOf = (each: typeof kept) => (each.of === of ? each.state : initialState(0))
  const update = (change: (state: ListState) => Partial<ListState>) =>
    setKept((before) => {
      const state = stateOf(before)
      return { of, state: { ...state, ...change(state) } }
    })
  return { state: stateOf(kept), update }
}

interface Pages<Item> {
  known: readonly KnownPage[]
  wanted: readonly number[]
  fixed: readonly (ListPage<Item> | undefined)[]
  now: readonly (ListPage<Item> | undefined)[]
  keyOf(item: Item): string
}

function assemble<Item>({
  known,
  wanted,
  fixed,
  now,
  keyOf,
}: Pages<Item>): Pick<ListView<Item>, 'items' | 'left' | 'freshCount'> {
  const starts: number[] = []
  let total = 0
  for (const { count } of known) {
    starts.push(total)
    total += count
  }
  const items = new Array<Item | undefined>(total).fill(undefined)
  const left = new Set<string>()
  wanted.forEach((index, at) => {
    const [page, start] = [fixed[at], starts[index]]
    if (page === undefined || start === undefined) return
    const { rows, left: gone } = mergeNow(
      selectRows(page.items, known[index], keyOf),
      now[at]?.items ?? page.items,
      keyOf,
    )
    rows.slice(0, known[index]?.count).forEach((row, offset) => {
      items[start + offset] = row
    })
    for (const key of gone) left.add(key)
  })
  const [head, headNow] = [fixed[0]?.items ?? [], now[0]?.items ?? []]
  return { items, left, freshCount: countFresh(head.map(keyOf), headNow.map(keyOf)) }
}
