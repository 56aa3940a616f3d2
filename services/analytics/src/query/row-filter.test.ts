import { describe, expect, it } from '@jest/globals'
import type { Filter, ResultColumnType } from '@opsplane/contracts'
import { rowMatches } from './row-filter.js'

const types = new Map<string, ResultColumnType>([
  ...[['price', 'decimal'] as const, ['visits', 'bigint'] as const, ['note', 'text'] as const],
  ...[['at', 'timestamp'] as const],
])
const row = { price: '10.50', visits: '9007199254740993', note: '10.50', at: '2026-03-01T23:00:00.000Z' }

describe('a filter on a row of a saved query', () => {
  it.each<[Filter, boolean]>([
    [{ price: 10.5 }, true],
    [{ price: '10.5000' }, true],
    [{ price: { gt: 9 } }, true],
    [{ price: { lt: '9' } }, false],
    [{ price: { in: [1, '10.5'] } }, true],
    [{ price: { nin: [10.5] } }, false],
    [{ price: { ne: 10.5 } }, false],
    [{ price: { exists: true, gte: 10.5, lte: 10.5 } }, true],
    [{ price: { contains: '.5' } }, true],
    [{ price: 'x' }, false],
    [{ price: { gt: 'x' } }, false],
    [{ price: null }, false],
    [{ visits: { gt: '9007199254740992' } }, true],
    [{ visits: '9007199254740992' }, false],
    [{ note: { gt: '9' } }, false],
    [{ note: '10.5' }, false],
    [{ at: { gte: '2026-03-02T00:00:00+01:00' } }, true],
  ])('compares values by their type: %j', (filter, wanted) =>
    expect(rowMatches(filter, types, row)).toBe(wanted),
  )

  it('treats a missing value as equal to null only', () => {
    expect(rowMatches({ price: null }, types, { price: null })).toBe(true)
    expect(rowMatches({ price: { lt: 1 } }, types, { price: null })).toBe(false)
    expect(rowMatches({ price: { ne: 1 } }, types, { price: null })).toBe(true)
  })
})
