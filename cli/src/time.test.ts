import { expect, test } from '@jest/globals'
import { parseDuration, parseInstant } from './time.js'

const nowMs = Date.parse('2026-01-31T12:00:00.000Z')

test.each([
  ['500ms', 500],
  ['15m', 900_000],
  [' 2 h ', 7_200_000],
  ['1w', 604_800_000],
  ['0s', 0],
  ['m', undefined],
  ['1.5h', undefined],
  ['-2h', undefined],
  ['2 fortnights', undefined],
])('the duration %p is parsed as %p ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  ['15m', '2026-01-31T11:45:00.000Z'],
  ['7d ago', '2026-01-24T12:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T08:00', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:30.5+02:00', '2026-01-31T06:00:30.500Z'],
  ['yesterday', undefined],
  ['2026-13-01', undefined],
  ['ago', undefined],
  ['999999999w', undefined],
  ['1770000000', undefined],
])('the time %p is parsed as %p', (text, instant) => {
  expect(parseInstant(text, nowMs)).toBe(instant)
})
