import { expect, test } from '@jest/globals'
import { causeOf, spanOf, totalOf } from './groups.js'

test('groups are counted together, and said to be more where one of them may be', () => {
  const some = { count: 3, isMore: false }
  expect(totalOf([some, { count: 4, isMore: false }], false)).toEqual({ count: 7, isMore: false })
  expect(totalOf([some, { count: 10_000, isMore: true }], false)).toEqual({ count: 10_003, isMore: true })
  expect(totalOf([some], true)).toEqual({ count: 3, isMore: true })
  expect(totalOf([], false)).toEqual({ count: 0, isMore: false })
})

test.each([
  ['timeout', 'The endpoint has not answered within 10 s.', 'No answer in time'],
  ['status', 'The endpoint answered 500.', 'The endpoint answered 500.'],
  ['no_such_code', 'Division by zero', 'Division by zero'],
])('a cause %s is shown in words', (code, message, words) => {
  expect(causeOf({ code, message })).toBe(words)
})

test.each([
  ['still fails', '2026-01-01T01:00:00Z', 100],
  ['failed until half the time ago', '2026-01-01T00:30:00Z', 50],
  ['failed once', '2026-01-01T00:00:00Z', 0],
  ['failed by a clock ahead of this one', '2026-01-01T02:00:00Z', 100],
])('what %s is seen by its line', (_, lastAt, untilPercent) => {
  const span = spanOf({ firstAt: '2026-01-01T00:00:00Z', lastAt }, Date.parse('2026-01-01T01:00:00Z'))
  expect(span.untilPercent).toBe(untilPercent)
})
