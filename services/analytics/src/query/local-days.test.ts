import { describe, expect, it } from '@jest/globals'
import { type Filter, type Grain, grains, type ResultColumnType } from '@opsplane/contracts'
import { timeColumn } from './check-query.js'
import { withLocalDates, zonedFilters } from './local-days.js'
import { plainColumn } from './studio-columns.js'

const types = new Map<string, ResultColumnType>([
  ['note', 'text'],
  ['at', 'timestamp'],
])

describe('a date that is compared with a timestamp', () => {
  it('becomes the start of that day in the time zone', () => {
    const given: Filter = { at: { gte: '2026-03-29', in: ['2026-03-30', null] }, note: '2026-03-29' }
    const zoned = zonedFilters(given, (name) => types.get(name), 'Europe/Berlin')
    expect(zoned).toEqual({
      at: { gte: '2026-03-28T23:00:00.000Z', in: ['2026-03-29T22:00:00.000Z', null] },
      note: '2026-03-29',
    })
  })

  it.each([
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-03-29T00:00:00Z', 'Europe/Berlin', '2026-03-29T00:00:00Z'],
    ['2026-02-30', 'UTC', '2026-02-30'],
  ])('%s in %s', (text, zone, wanted) => {
    expect(zonedFilters({ at: { gte: text } }, (name) => types.get(name), zone)).toEqual({
      at: { gte: wanted },
    })
  })
})

describe('an exported query result', () => {
  const count = plainColumn('count', 'integer', 'measure')
  // The first instant of March 30 in Berlin.
  const rows = [{ time: '2026-03-29T22:00:00.000Z', count: 3 }]
  const answer = { columns: [timeColumn, count], rows, dataAsOf: '2026-04-01T00:00:00.000Z' }
  const whole: Grain[] = ['day', 'week', 'month', 'quarter', 'year']

  it.each(whole)('grouped by %s has local dates and a column with their time zone', (grain) => {
    const { columns, rows: shown } = withLocalDates(answer, { grain, timeZone: 'Europe/Berlin' })
    expect(columns.map(({ name, type, role }) => `${name} ${type} ${role}`)).toEqual([
      ...['time date time', 'timeZone text dimension', 'count integer measure'],
    ])
    expect(shown).toEqual([{ time: '2026-03-30', timeZone: 'Europe/Berlin', count: 3 }])
  })

  it.each([undefined, ...grains.filter((grain) => !whole.includes(grain))])(
    'grouped by %s has timestamps',
    (grain) => expect(withLocalDates(answer, { grain, timeZone: 'Europe/Berlin' })).toBe(answer),
  )
})
