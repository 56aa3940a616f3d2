import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ListPage } from '../api/queries.js'

export interface ListSource<Item> {
  /** Names the list with its place and its filters. */
  queryKey: readonly unknown[]
  read(after: unknown, signal: AbortSignal): Promise<ListPage<Item>>
  keyOf(item: Item): string
}

/** A list as its page shows it. */
export interface ListView<Item> {
  items: Item[]
  error: unknown
  isLoading: boolean
  /** Since when there was no answer, where that is what is shown. */
  staleSinceMs: number | undefined
  hasMore: boolean
  isLoadingMore: boolean
  /** Rows that have come since, and are not shown until one asks. */
  freshCount: number
  showFresh(): void
  loadMore(): void
  reload(): void
}

const freshEveryMs = 10_000

/**
 * A list that is read on as one scrolls. Its first page is read again every few seconds: rows that are there change where
 * they are, and those that have come wait, so that nothing moves under the pointer.
 */
export function useList<Item>({ queryKey, read, keyOf }: ListSource<Item>): ListView<Item> {
  const pages = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as unknown,
    getNextPageParam: ({ next }) => next,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const isThere = pages.data !== undefined
  const head = useQuery({
    queryKey: [...queryKey, 'head'],
    queryFn: ({ signal }) => read(undefined, signal),
    enabled: isThere,
    refetchInterval: freshEveryMs,
  })
  const loaded = pages.data?.pages
  const items = useMemo(
    () => mergeFresh(loaded?.flatMap((page) => page.items) ?? [], head.data?.items ?? [], keyOf),
    [loaded, head.data, keyOf],
  )
  const showFresh = () => void pages.refetch()
  return {
    items: items.shown,
    error: pages.error ?? undefined,
    isLoading: pages.isPending,
    staleSinceMs: head.isError ? Math.max(head.dataUpdatedAt, pages.dataUpdatedAt) : undefined,
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    freshCount: items.freshCount,
    showFresh,
    loadMore: () => {
      if (pages.hasNextPage && !pages.isFetching) void pages.fetchNextPage()
    },
    reload: showFresh,
  }
}

/** The rows that are shown, as they are now, and how many of the first page are not among them. */
export function mergeFresh<Item>(
  shown: readonly Item[],
  head: readonly Item[],
  keyOf: (item: Item) => string,
): { shown: Item[]; freshCount: number } {
  const now = new Map(head.map((item) => [keyOf(item), item]))
  const known = new Set(shown.map(keyOf))
  const firstKnown = head.findIndex((item) => known.has(keyOf(item)))
  // Without any row in common the whole first page has come since.
  const fresh = firstKnown === -1 ? head.length : firstKnown
  return { shown: shown.map((item) => now.get(keyOf(item)) ?? item), freshCount: fresh }
}
