import { describe, expect, it } from '@jest/globals'
import type { Times } from './cron-times.js'
import { findInstants, listMinutes } from './oracle.fixture.js'
import { createTimes, previewTimes } from './times.js'

const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)]

function between(times: Times, first: number, end: number): number[] {
  const found: number[] = []
  for (let at = times.after(first - 1); at !== undefined && at < end; at = times.after(at)) found.push(at)
  return found
}
function backBetween(times: Times, first: number, end: number): number[] {
  const found: number[] = []
  for (let at = times.before(end); at !== undefined && at >= first; at = times.before(at)) found.unshift(at)
  return found
}
const asText = (instants: number[]) => instants.map((at) => new Date(at).toISOString())

const expressions = [
  ...['*/15 * * * MON', '7 * * * *', '30 2 * * *', '30 2,3 * * *', '0 2-3 * * *', '45 1 * * *'],
  ...['15 2 * * *', '*/10 2 * * *', '0 */2 * * *', '0,30 1-3 * * SUN', '0 9 * * MON-FRI', '0 0 L * *'],
  ...['30 1 1 * MON', '0 12 * * FRI#2', '5 4 * * SUNL', '59 23 31 12 *', '20 6 * 3,10 *', '15 * * * SUN'],
]

describe.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])('a year in %s', (timeZone) => {
  const minutes = listMinutes(timeZone, from, to)

  it.each(expressions)('%s fires at the same times as a check of every minute', (cron) => {
    const times = createTimes({ cron, timeZone })
    const expected = findInstants(minutes, cron)
    expect(asText(between(times, from, to))).toEqual(asText(expected))
    expect(backBetween(times, from, to)).toEqual(expected)
    expect(expected.length).toBeGreaterThan(0)
  })
})

describe('a change of the local clock', () => {
  const berlin = (cron: string, day: string, count: number) =>
    previewTimes({ cron, timeZone: 'Europe/Berlin' }, `${day}T00:00:00+01:00`, count)

  it.each([
    ['comes at the end of the gap', '30 2 * * *', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['comes there once', '*/10 2 * * *', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']],
    [
      'comes with the displayed ones',
      '30 2,3 * * *',
      ['2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z'],
    ],
    [
      'does not come of every hour',
      '30 * * * *',
      ['2026-03-28T23:30:00.000Z', '2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00.000Z'],
    ],
  ])('a time in the skipped hour %s', (_what, cron, expected) => {
    expect(berlin(cron, '2026-03-29', expected.length)).toEqual(expected)
  })

  it.each([
    ['comes once', '30 2 * * *', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    [
      'comes twice of every hour',
      '30 * * * *',
      ['2026-10-24T23:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ],
  ])('a time in the repeated hour %s', (_what, cron, expected) => {
    expect(berlin(cron, '2026-10-25', expected.length)).toEqual(expected)
  })

  it('can skip a whole day', () => {
    const apia = { cron: '0 9 * * *', timeZone: 'Pacific/Apia' }
    expect(previewTimes(apia, '2011-12-29T12:00:00Z', 3)).toEqual([
      '2011-12-29T19:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T19:00:00.000Z',
    ])
  })
})

describe('a schedule', () => {
  it('fires at a fixed interval from its start on, whatever the local clock', () => {
    const spec = { everySeconds: 90, startAt: '2026-03-29T00:59:00Z' }
    const expected = ['2026-03-29T00:59:00.000Z', '2026-03-29T01:00:30.000Z', '2026-03-29T01:02:00.000Z']
    expect(previewTimes(spec, '2026-01-01T00:00:00Z', 3)).toEqual(expected)
    const times = createTimes(spec)
    expect(times.before(Date.parse('2026-03-29T01:02:00Z'))).toBe(Date.parse('2026-03-29T01:00:30Z'))
    expect(times.before(Date.parse('2026-03-29T00:59:00Z'))).toBeUndefined()
    expect(previewTimes({ everySeconds: 60 }, '2026-01-01T00:00:00Z', 1)).toEqual([
      '2026-01-01T00:01:00.000Z',
    ])
  })

  it('starts and ends at its bounds, both included', () => {
    const spec = { cron: '0 0 * * *', startAt: '2026-05-01T00:00:00Z', endAt: '2026-05-03T00:00:00Z' }
    const days = ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z', '2026-05-03T00:00:00.000Z']
    expect(previewTimes(spec, '2026-01-01T00:00:00Z', 9)).toEqual(days)
    expect(asText(backBetween(createTimes(spec), 0, Date.parse('2030-01-01T00:00:00Z')))).toEqual(days)
  })

  it('interprets dates as the start of those days in its time zone', () => {
    const bounds = { timeZone: 'Europe/Berlin', startAt: '2026-03-29', endAt: '2026-03-30' }
    expect(previewTimes({ ...bounds, everySeconds: 82_800 }, '2026-01-01T00:00:00Z', 9)).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(previewTimes({ ...bounds, cron: '0 0,12 * * *' }, '2026-01-01T00:00:00Z', 9)).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T10:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
  })

  it('fires in leap years only, if it is set to 29 February', () => {
    expect(previewTimes({ cron: '0 0 29 2 *' }, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2028-02-29T00:00:00.000Z',
      '2032-02-29T00:00:00.000Z',
    ])
  })
})
