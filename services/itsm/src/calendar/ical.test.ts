import { describe, expect, it } from '@jest/globals'
import { ApiError, type SlaCalendarState } from '@opsplane/contracts'
import { mergeHolidays } from './holidays.js'
import { parseHolidays } from './ical.js'

const calendar = (...events: string[][]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events.flat(), 'END:VCALENDAR'].join('\r\n')
const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']
const once = (date: string, name = '') => ({ date, yearly: false, name })

function refused(ical: string) {
  try {
    parseHolidays(ical)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.details[0]?.path, error.details[0]?.code]
  }
}

describe('holidays imported from iCalendar', () => {
  it('are the all-day events, with their dates and names', () => {
    const text = calendar(
      event('DTSTART;VALUE=DATE:20261225', 'DTEND;VALUE=DATE:20261226', 'SUMMARY:Christmas\\, first day'),
      event('UID:1', 'DTSTART:20270101', 'SUMMARY;LANGUAGE="de:DE":Neu', ' jahr'),
      event('DTSTART;VALUE=DATE:20260501'),
    )
    expect(parseHolidays(text)).toEqual([
      once('2026-12-25', 'Christmas, first day'),
      once('2027-01-01', 'Neujahr'),
      once('2026-05-01'),
    ])
  })

  it('cover every date of an event of several days', () => {
    const long = event('DTSTART;VALUE=DATE:20261230', 'DTEND;VALUE=DATE:20270102')
    expect(parseHolidays(calendar(long)).map(({ date }) => date)).toEqual([
      '2026-12-30',
      '2026-12-31',
      '2027-01-01',
    ])
    const week = event('DTSTART;VALUE=DATE:20240226', 'DURATION:P1W')
    expect(parseHolidays(calendar(week)).map(({ date }) => date.slice(5))).toEqual([
      ...['02-26', '02-27', '02-28', '02-29'],
      ...['03-01', '03-02', '03-03'],
    ])
  })

  it('recur yearly, or as often as the recurrence rule allows', () => {
    const yearly = (rule: string) =>
      parseHolidays(calendar(event('DTSTART;VALUE=DATE:20261225', `RRULE:${rule}`)))
    expect(yearly('FREQ=YEARLY')).toEqual([{ date: '2026-12-25', yearly: true, name: '' }])
    expect(yearly('FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25;WKST=MO')).toEqual(yearly('FREQ=YEARLY'))
    expect(yearly('FREQ=YEARLY;COUNT=2')).toEqual([once('2026-12-25'), once('2027-12-25')])
    expect(yearly('FREQ=YEARLY;UNTIL=20281224T235959Z')).toEqual([once('2026-12-25'), once('2027-12-25')])
  })

  it('exclude canceled events, other components, and components within an event', () => {
    const text = calendar(
      event('DTSTART;VALUE=DATE:20261225', 'STATUS:CANCELLED'),
      ['BEGIN:VTODO', 'DTSTART;VALUE=DATE:20261226', 'END:VTODO'],
      event('DTSTART;VALUE=DATE:20261227', 'BEGIN:VALARM', 'DURATION:PT15M', 'SUMMARY:No', 'END:VALARM'),
    )
    expect(parseHolidays(text)).toEqual([once('2026-12-27')])
    expect(parseHolidays(calendar())).toEqual([])
  })

  it.each([
    ['not_ical', 'Christmas, 25 December'],
    ['no_date', calendar(event('SUMMARY:No date'))],
    ['no_date', calendar(event('DTSTART:20261225T090000Z'))],
    ['no_date', calendar(event('DTSTART;VALUE=DATE:20260230'))],
    ['too_long', calendar(event('DTSTART;VALUE=DATE:20260101', 'DTEND;VALUE=DATE:20270101'))],
    ['too_long', calendar(event('DTSTART;VALUE=DATE:20260102', 'DTEND;VALUE=DATE:20260101'))],
    [
      'unknown_recurrence',
      calendar(event('DTSTART;VALUE=DATE:20261126', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH')),
    ],
    ['unknown_recurrence', calendar(event('DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=WEEKLY'))],
    ['not_ical', calendar(event('DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY;COUNT=no'))],
    ['not_ical', 'END:VCALENDAR\nDTSTART:20261225'],
    ['not_ical', calendar([`X;${'a=b;'.repeat(100_000)}:x`])],
    ['not_ical', ''],
    ['too_many', calendar(...Array.from({ length: 5_001 }, () => event('DTSTART;VALUE=DATE:20261225')))],
    [
      'unknown_recurrence',
      calendar(event('DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY', 'EXDATE:20271225')),
    ],
    ['no_date', calendar(event('DTSTART:99991230', 'RRULE:FREQ=YEARLY;COUNT=2'))],
    ['no_date', calendar(event('DTSTART:99991231', 'DURATION:P2D'))],
  ])('are rejected rather than dropped silently: %s', (code, text) => {
    expect(refused(text)).toEqual(['/ical', code])
  })
})

describe('holidays imported into a calendar', () => {
  const state = { holidays: [once('2026-12-25', 'Ours'), once('2026-05-01')] } as SlaCalendarState

  it('are merged with the existing ones, without duplicates and in order of date', () => {
    const holidays = [once('2026-12-25', 'Theirs'), once('2026-01-01'), once('2026-01-01')]
    expect(mergeHolidays({ holidays, replace: false }, state).holidays).toEqual([
      ...[once('2026-01-01'), once('2026-05-01'), once('2026-12-25', 'Ours')],
    ])
    expect(mergeHolidays({ holidays, replace: true }, state).holidays).toEqual([
      ...[once('2026-01-01'), once('2026-12-25', 'Theirs')],
    ])
  })

  it('are limited to 500 in total', () => {
    const holidays = Array.from({ length: 500 }, (_, day) =>
      once(new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10)),
    )
    expect(() => mergeHolidays({ holidays, replace: false }, state)).toThrow(ApiError)
    expect(mergeHolidays({ holidays, replace: true }, state).holidays).toHaveLength(500)
  })
})
