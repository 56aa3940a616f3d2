import { expect, test } from '@jest/globals'
import { type MergedCursor, mergePages, type SourcePage } from './merge.js'

interface Item {
  id: string
}
const item = (time: number): Item => ({ id: `del_${String(time).padStart(4, '0')}` })

/** A list of the API: older than `after`, the newest first. */
const read = (list: readonly Item[], after: string | null | undefined, limit: number): SourcePage<Item> => {
  const rest = list
    .filter(({ id }) => !after || id < after)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
  return { items: rest.slice(0, limit), hasMore: rest.length > limit }
}

function readAll(lists: Readonly<Record<string, readonly Item[]>>, limit: number): Item[][] {
  const pages: Item[][] = []
  let cursor: MergedCursor | undefined = {}
  while (cursor !== undefined) {
    const before: MergedCursor = cursor
    const open = Object.entries(lists).filter(([source]) => before[source] !== null)
    const read1 = open.map(([source, list]) => [source, read(list, before[source], limit)] as const)
    const page = mergePages(Object.fromEntries(read1), before, limit)
    pages.push(page.items)
    cursor = page.next
  }
  return pages
}

test.each([1, 2, 3, 7, 50])('every item comes once and in order, with pages of %d', (limit) => {
  const lists = {
    busy: Array.from({ length: 20 }, (_, index) => item(index * 2)),
    quiet: [item(3), item(31)],
    silent: [],
    late: Array.from({ length: 5 }, (_, index) => item(100 + index)),
  }
  const pages = readAll(lists, limit)
  const expected = Object.values(lists)
    .flat()
    .map(({ id }) => id)
    .sort()
    .reverse()
  expect(pages.flat().map(({ id }) => id)).toEqual(expected)
  expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true)
})

test('without any list there is one empty page', () => {
  expect(mergePages({}, {}, 50)).toEqual({ items: [], next: undefined })
})
