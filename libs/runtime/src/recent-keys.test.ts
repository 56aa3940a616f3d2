import { expect, test } from '@jest/globals'
import { recentKeys } from './recent-keys.js'

const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `key ${from + n}`)

test('remembers the most recent keys, and at most twice as many', () => {
  const recent = recentKeys(100)
  for (const [n, key] of keys(0, 1_000).entries()) {
    recent.add(key)
    expect(keys(Math.max(0, n - 99), n + 1).filter((each) => !recent.has(each))).toEqual([])
    expect(keys(0, n + 1).filter((each) => recent.has(each)).length).toBeLessThanOrEqual(200)
  }
})

test('a key that is added again counts as recent', () => {
  const recent = recentKeys(3)
  for (const key of ['a', 'b', 'c', 'a', 'd']) recent.add(key)
  expect(['a', 'd'].every((key) => recent.has(key))).toBe(true)
  for (const key of ['e', 'f', 'g']) recent.add(key)
  expect(recent.has('b')).toBe(false)
})
