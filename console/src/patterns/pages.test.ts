import { describe, expect, test } from '@jest/globals'
import { computeVisiblePages, countFresh, type KnownPage, mergeNow, selectRows } from './pages.js'

const keyOf = ({ id }: { id: string }) => id
const row = (id: string, state = 'old') => ({ id, state })
const page = (index: number, count = 50): KnownPage => ({
  ...{ after: index, count, lastKey: `last-${index}`, next: index + 1 },
})
const pages = (count: number) => Array.from({ length: count }, (_, index) => page(index))

describe('the loaded pages of a list', () => {
  test.each([
    ['the first one at the start', [], 0, 0, [0]],
    ['the next one before its rows are in sight', pages(1), 0, 30, [0, 1]],
    ['no further one while there is enough', pages(2), 0, 30, [0, 1]],
    ['those around the rows in sight, and the first', pages(2_000), 50_000, 50_030, [0, 999, 1_000, 1_001]],
    ['none behind the last one', [page(0), { ...page(1), next: undefined }], 60, 99, [0, 1]],
  ])('are %s', (_, known, first, last, wanted) => {
    expect(computeVisiblePages(known, first, last)).toEqual(wanted)
  })

  test('are at most four at any scroll position', () => {
    const known = pages(2_000)
    const counts = known.map((_, index) => computeVisiblePages(known, index * 50, index * 50 + 40).length)
    expect(Math.max(...counts)).toBeLessThanOrEqual(4)
  })
})

test('a page that is read again contains no rows of the next page', () => {
  const read = ['d', 'b', 'a'].map((id) => row(id))
  const known = { ...page(0, 3), lastKey: 'b' }
  expect(selectRows(read, known, keyOf).map(keyOf)).toEqual(['d', 'b'])
  expect(selectRows(read, undefined, keyOf)).toBe(read)
})

describe('the rows of a list that is read again', () => {
  const shown = ['d', 'c', 'b', 'a'].map((id) => row(id))

  test('are updated in place', () => {
    const now = [row('e', 'new'), ...['d', 'c', 'b'].map((id) => row(id, 'new'))]
    expect(mergeNow(shown, now, keyOf)).toEqual({
      rows: [row('d', 'new'), row('c', 'new'), row('b', 'new'), row('a')],
      left: [],
    })
  })

  test('stay when they are no longer in the list, and are marked as removed', () => {
    const now = [row('d', 'new'), row('b', 'new')]
    const { rows, left } = mergeNow(shown, now, keyOf)
    expect(rows.map(keyOf)).toEqual(['d', 'c', 'b', 'a'])
    // The last row may have left the list, or may have moved to the next page.
    expect(left).toEqual(['c'])
  })
})

test.each([
  ['nothing was read again', ['a'], [], 0],
  ['nothing has come', ['a'], ['a'], 0],
  ['two have come', ['b', 'a'], ['d', 'c', 'b'], 2],
  ['none of the rows is on the first page any more', ['a'], ['c', 'b'], 2],
  ['the list was empty', [], ['a'], 1],
])('counts the new rows where %s', (_, shown, now, count) => {
  expect(countFresh(shown, now)).toBe(count)
})
