import { expect, test } from '@jest/globals'
import { clockTime, duration, exactTime, relativeTime } from './times.js'

const now = Date.parse('2026-03-02T10:00:00.000Z')
const before = (seconds: number) => new Date(now - seconds * 1_000).toISOString()

test.each([
  [0, 'now'],
  [-4, 'now'],
  [59, '59 s ago'],
  [59.7, '1 min ago'],
  [240, '4 min ago'],
  [3_599, '1 h ago'],
  [-90, 'in 2 min'],
  [86_400 * 2, '2 d ago'],
  [86_400 * 29.8, '1 month ago'],
  [86_400 * 800, '2 years ago'],
])('a time %d seconds before now is displayed as %s', (seconds, expected) => {
  expect(relativeTime(before(seconds), now)).toBe(expected)
})

test('an exact time includes its time zone', () => {
  expect(exactTime('2026-03-02T10:00:00.123Z', 'UTC')).toBe('2 Mar 2026, 10:00:00.123 UTC')
  expect(exactTime('2026-07-02T22:30:00.000Z', 'Europe/Paris')).toMatch(
    /^3 Jul 2026, 00:30:00\.000 (CEST|GMT\+2)$/,
  )
  expect(clockTime('2026-03-02T10:00:00.123Z', 'UTC')).toBe('10:00:00')
})

test.each([
  [0, '0 ms'],
  [184.4, '184 ms'],
  [1_240, '1.2 s'],
  [9_960, '10 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
])('a duration of %d ms is displayed as %s', (ms, expected) => {
  expect(duration(ms)).toBe(expected)
})
