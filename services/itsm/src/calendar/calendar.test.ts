import { describe, expect, it, test } from '@jest/globals'
import { seededRandom } from '@opsplane/testing'
import { nine2five, openDays, openMinutes, sampleHours, zones } from '../sla/timer/oracle.fixture.js'
import { aroundTheClock, type CalendarHours, createCalendar } from './calendar.js'

const hourMs = 3_600_000
const at = (text: string) => Date.parse(text)

const everyDay = (from: string, to: string, timeZone: string): CalendarHours => {
  const hours = [{ from, to }]
  const week = {
    monday: hours,
    tuesday: hours,
    wednesday: hours,
    thursday: hours,
    friday: hours,
    saturday: hours,
    sunday: hours,
  }
  return { timeZone, week, holidays: [], exceptions: [] }
}

describe('daylight saving time', () => {
  it('skips the hour that does not exist in spring', () => {
    const calendar = createCalendar(everyDay('01:00', '04:00', 'Europe/Berlin'))
    const midnight = at('2026-03-28T23:00:00Z')
    expect(calendar.businessMsBetween(midnight, midnight + 23 * hourMs)).toBe(2 * hourMs)
    expect(calendar.addBusinessMs(midnight, 2 * hourMs)).toBe(at('2026-03-29T02:00:00Z'))
    expect(
      createCalendar(everyDay('02:00', '03:00', 'Europe/Berlin')).openBetween(
        midnight,
        midnight + 23 * hourMs,
      ),
    ).toEqual([])
  })

  it('counts the repeated hour twice in autumn', () => {
    const calendar = createCalendar(everyDay('01:00', '02:30', 'Europe/Berlin'))
    const midnight = at('2026-10-24T22:00:00Z')
    expect(calendar.openBetween(midnight, midnight + 25 * hourMs)).toEqual([
      { from: at('2026-10-24T23:00:00Z'), to: at('2026-10-25T00:30:00Z') },
      { from: at('2026-10-25T01:00:00Z'), to: at('2026-10-25T01:30:00Z') },
    ])
    expect(calendar.businessMsBetween(midnight, midnight + 25 * hourMs)).toBe(2 * hourMs)
  })

  it('shifts by half an hour on Lord Howe Island, in the southern autumn', () => {
    const calendar = createCalendar(everyDay('00:00', '24:00', 'Australia/Lord_Howe'))
    const midnight = at('2026-04-04T13:00:00Z')
    expect(calendar.businessMsBetween(midnight, midnight + 24.5 * hourMs)).toBe(24.5 * hourMs)
    expect(
      createCalendar(everyDay('01:30', '02:00', 'Australia/Lord_Howe')).openBetween(
        midnight,
        midnight + 24 * hourMs,
      ),
    ).toEqual([
      { from: at('2026-04-04T14:30:00Z'), to: at('2026-04-04T15:00:00Z') },
      { from: at('2026-04-04T15:00:00Z'), to: at('2026-04-04T15:30:00Z') },
    ])
  })

  it('skips the date that was dropped in Samoa', () => {
    const calendar = createCalendar(everyDay('09:00', '17:00', 'Pacific/Apia'))
    const from = at('2011-12-29T10:00:00Z')
    expect(calendar.businessMsBetween(from, from + 72 * hourMs)).toBe(3 * 8 * hourMs)
  })
})

describe('calendar dates', () => {
  const hours: CalendarHours = {
    ...nine2five('Europe/London'),
    holidays: [
      { date: '2024-12-25', yearly: true, name: 'Christmas' },
      { date: '2026-12-28', yearly: false, name: 'Boxing Day' },
    ],
    exceptions: [{ date: '2026-12-24', hours: [{ from: '09:00', to: '12:00' }] }],
  }
  const calendar = createCalendar(hours)
  const day = (date: string) =>
    calendar.businessMsBetween(at(`${date}T00:00:00Z`), at(`${date}T00:00:00Z`) + 24 * hourMs)

  test.each([
    ['2026-12-23', 8],
    ['2026-12-24', 3],
    ['2026-12-25', 0],
    ['2026-12-26', 0],
    ['2026-12-28', 0],
    ['2026-12-29', 8],
    ['2027-12-28', 8],
    ['2028-12-25', 0],
  ])('%s is open for %d hours', (date, expected) => expect(day(date)).toBe(expected * hourMs))

  it('end at the first instant at which enough open time is counted', () => {
    const opened = at('2026-12-23T16:00:00Z')
    expect(calendar.addBusinessMs(opened, hourMs)).toBe(at('2026-12-23T17:00:00Z'))
    expect(calendar.addBusinessMs(opened, 4 * hourMs)).toBe(at('2026-12-24T12:00:00Z'))
    expect(calendar.addBusinessMs(opened, 4 * hourMs + 1)).toBe(at('2026-12-29T09:00:00.001Z'))
  })
})

it('returns no due time if every date is closed', () => {
  const closed = createCalendar({ timeZone: 'UTC', week: {}, holidays: [], exceptions: [] })
  expect(closed.addBusinessMs(at('2026-01-01T00:00:00Z'), 1)).toBeNull()
})

it('counts all time in a calendar that is open around the clock', () => {
  expect(aroundTheClock.businessMsBetween(5, 12)).toBe(7)
  expect(aroundTheClock.addBusinessMs(5, 7)).toBe(12)
})

const from2026 = at('2026-01-01T00:00:00Z')
/** Range of dates whose wall-clock times are inspected: every date that counts, as a whole. */
const known = [from2026 - 48 * hourMs, 370] as const

test.each(zones)(
  'adding and measuring open time are inverse, and match a minute-by-minute wall clock in %s',
  (zone) => {
    const random = seededRandom(zones.indexOf(zone) + 1)
    for (let round = 0; round < 3; round++) {
      const hours = sampleHours(zone, random)
      const calendar = createCalendar(hours)
      const open = openMinutes(hours, ...known)
      for (let sample = 0; sample < 12; sample++) {
        const start = from2026 + Math.floor(random() * 200 * 86_400_000)
        const end = start + Math.floor(random() ** 2 * 100 * 86_400_000)
        const counted = calendar.businessMsBetween(start, end)
        expect(counted).toBe(open.between(start, end))
        const spans = calendar.openBetween(start, end)
        expect(spans.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(counted)
        const wanted = 1 + Math.floor(random() * 40 * hourMs)
        const reached = calendar.addBusinessMs(start, wanted) ?? Number.NaN
        expect(calendar.businessMsBetween(start, reached)).toBe(wanted)
        expect(calendar.businessMsBetween(start, reached - 1)).toBe(wanted - 1)
      }
    }
  },
)

test.each(zones)('business days match a day-by-day wall clock in %s', (zone) => {
  const random = seededRandom(500 + zones.indexOf(zone))
  for (const hours of [nine2five(zone), sampleHours(zone, random), sampleHours(zone, random)]) {
    const calendar = createCalendar(hours, 'business_days')
    const wall = openDays(hours, ...known)
    for (let sample = 0; sample < 12; sample++) {
      const start = from2026 + Math.floor(random() * 200 * 86_400_000)
      const end = start + Math.floor(random() ** 2 * 100 * 86_400_000)
      const counted = calendar.businessMsBetween(start, end)
      expect(counted).toBe(wall.between(start, end))
      const middle = start + Math.floor(random() * (end - start))
      expect(calendar.businessMsBetween(start, middle) + calendar.businessMsBetween(middle, end)).toBe(
        counted,
      )
      const parts = calendar
        .openBetween(start, end)
        .map(({ from, to }) => calendar.businessMsBetween(from, to))
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(counted)
      const wanted = 1 + Math.floor(random() * 10 * 86_400_000)
      const reached = calendar.addBusinessMs(start, wanted) ?? Number.NaN
      expect(reached).toBe(wall.add(start, wanted))
      expect(calendar.businessMsBetween(start, reached)).toBeGreaterThanOrEqual(wanted)
      expect(calendar.businessMsBetween(start, reached - 1)).toBeLessThan(wanted)
    }
  }
})
