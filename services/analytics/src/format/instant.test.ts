import { expect, test } from '@jest/globals'
import { toIsoInstant } from './instant.js'

test.each([
  ['2026-03-01 10:20:30+00', '2026-03-01T10:20:30.000Z'],
  ['2026-03-01 10:20:30.1+00', '2026-03-01T10:20:30.100Z'],
  ['2026-03-01 10:20:30.123+00', '2026-03-01T10:20:30.123Z'],
  ['2026-03-01 10:20:30.123456+00', '2026-03-01T10:20:30.123Z'],
  ['2026-03-01 10:20:30+05:30', '2026-03-01T04:50:30.000Z'],
])('converts the Postgres timestamp %s to %s', (text, iso) => {
  expect(toIsoInstant(text)).toBe(iso)
})
