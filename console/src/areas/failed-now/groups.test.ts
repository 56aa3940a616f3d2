import { expect, test } from '@jest/globals'
import { describeFailure, sumGroups } from './groups.js'

test('the sum of groups is marked as a lower bound if any of the counts is one', () => {
  const some = { count: 3, isMore: false }
  expect(sumGroups([some, { count: 4, isMore: false }], false)).toEqual({ count: 7, isMore: false })
  expect(sumGroups([some, { count: 10_000, isMore: true }], false)).toEqual({ count: 10_003, isMore: true })
  expect(sumGroups([some], true)).toEqual({ count: 3, isMore: true })
  expect(sumGroups([], false)).toEqual({ count: 0, isMore: false })
})

test.each([
  ['timeout', 'The endpoint has not answered within 10 s.', 'No answer in time'],
  ['status', 'The endpoint answered 500.', 'The endpoint answered 500'],
  ['thrown', 'Waiting for the lock...', 'Waiting for the lock...'],
  ['no_such_code', 'Division by zero', 'Division by zero'],
])('the cause %s is described in words', (code, message, words) => {
  expect(describeFailure({ code, message })).toBe(words)
})
