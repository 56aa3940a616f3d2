import { expect, test } from '@jest/globals'
import { mergeFresh } from './use-list.js'

const keyOf = ({ id }: { id: string }) => id
const row = (id: string, state = 'old') => ({ id, state })

test('rows change where they are, and those that have come wait', () => {
  const shown = [row('c'), row('b'), row('a')]
  const head = [row('e', 'new'), row('d', 'new'), row('c', 'new'), row('b', 'new')]
  expect(mergeFresh(shown, head, keyOf)).toEqual({
    shown: [row('c', 'new'), row('b', 'new'), row('a')],
    freshCount: 2,
  })
})

test.each([
  ['nothing was read again', [row('a')], [], 0],
  ['nothing has come', [row('a')], [row('a')], 0],
  ['none of the rows is on the first page any more', [row('a')], [row('c'), row('b')], 2],
  ['the list was empty', [], [row('a')], 1],
])('where %s', (_, shown, head, freshCount) => {
  expect(mergeFresh(shown, head, keyOf).freshCount).toBe(freshCount)
})
