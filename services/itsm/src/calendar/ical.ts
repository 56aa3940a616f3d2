import { invalidField, type SlaCalendarState } from '@opsplane/contracts'
import ICAL from 'ical.js'
import { z } from 'zod'

export type Holiday = SlaCalendarState['holidays'][number]

type Event = ICAL.Component

const dayMs = 86_400_000
/** Later ones are not written with four digits of the year, and no calendar could be read that had one. */
const lastDay = Date.UTC(9999, 11, 31)
const maxDays = 31
const maxYears = 50
/** Far more than a calendar keeps, as dates may come twice. */
const maxHolidays = 5_000
/** Unfolded: what takes longer to read the longer it is. */
const maxLineLength = 10_000

/**
 * The holidays of a calendar in iCalendar format (RFC 5545): its events of whole days, each day of longer ones, and
 * those that return every year on their date. Throws validation_failed for what would get lost: events at times of
 * day, and other recurrences.
 */
export function parseHolidays(ical: string): Holiday[] {
  const holidays: Holiday[] = []
  for (const event of findEvents(ical)) {
    holidays.push(...toHolidays(event))
    if (holidays.length > maxHolidays)
      throw invalidIcal('too_many', `These are more than ${maxHolidays} days; take the years that matter.`)
  }
  return holidays
}

/** Those of the first calendar in it that take place. */
function findEvents(ical: string): Event[] {
  const calendar = parseIcal(ical.replace(/^\uFEFF/, '').replaceAll(/\r?\n[ \t]/g, ''))
  if (calendar.name !== 'vcalendar')
    throw invalidIcal('not_ical', 'This is no iCalendar text: it begins with BEGIN:VCALENDAR.')
  const events = calendar.getAllSubcomponents('vevent')
  return events.filter((event) => String(readJcal(event, 'status')).toUpperCase() !== 'CANCELLED')
}

function parseIcal(ical: string): ICAL.Component {
  if (ical.split('\n').some((line) => line.length > maxLineLength))
    throw invalidIcal('not_ical', `A line has more than ${maxLineLength} characters.`)
  try {
    const [first, ...rest]: unknown[] = ICAL.parse(ical)
    return new ICAL.Component(typeof first === 'string' ? [first, ...rest] : (first as unknown[]))
  } catch (error) {
    const why =
      error instanceof Error && !(error instanceof TypeError) ? error.message.slice(0, 200) : 'nothing began'
    throw invalidIcal('not_ical', `This is no iCalendar text, which begins with BEGIN:VCALENDAR: ${why}.`)
  }
}

/** A recurrence as jCal has it. */
const Rule = z.looseObject({
  freq: z.string(),
  interval: z.number().optional(),
  bymonth: z.unknown().optional(),
  bymonthday: z.unknown().optional(),
  count: z.number().optional(),
  until: z.string().optional(),
  wkst: z.unknown().optional(),
})

/** As jCal (RFC 7265) has it: dates with dashes, a recurrence as an object. */
const readJcal = (event: Event, name: string): unknown => event.getFirstProperty(name)?.toJSON()[3]

const readText = (event: Event, name: string): string => {
  const value = readJcal(event, name)
  // A date without a time, where a time is the default.
  return typeof value === 'string' ? value.replace(/T::$/, '').trim() : ''
}

function toHolidays(event: Event): Holiday[] {
  const name = readText(event, 'summary').replaceAll('\n', ' ').slice(0, 100)
  const begin = parseDay(readText(event, 'dtstart'), name)
  const days = countDays(event, begin, name)
  const { years, yearly } = parseRecurrence(event, begin, name)
  const last = inYear(begin, years.at(-1) ?? 0) + (days - 1) * dayMs
  if (last > lastDay)
    throw invalidIcal('no_date', `${name || 'An event'} goes on beyond the year 9999, where dates end.`)
  return years.flatMap((year) =>
    Array.from({ length: days }, (_, day) => ({
      date: formatDate(inYear(begin, year) + day * dayMs),
      yearly,
      name,
    })),
  )
}

/** How many years on it returns: once, each of a number of years, or every year from its date. */
function parseRecurrence(event: Event, begin: number, name: string): { years: number[]; yearly: boolean } {
  const rule = readJcal(event, 'rrule')
  if (rule === undefined) return { years: [0], yearly: false }
  const { freq, interval = 1, bymonth, bymonthday, count, until, wkst: _, ...others } = Rule.parse(rule)
  const [, month, day] = formatDate(begin).split('-').map(Number)
  const onItsDate =
    (bymonth === undefined || bymonth === month) && (bymonthday === undefined || bymonthday === day)
  const counted = count === undefined || count >= 1
  const plain =
    freq === 'YEARLY' && interval === 1 && onItsDate && counted && Object.keys(others).length === 0
  if (!plain || event.hasProperty('exdate'))
    throw invalidIcal(
      'unknown_recurrence',
      `${name || 'An event'} recurs by ${event.getFirstProperty('rrule')?.toICALString().replace('RRULE:', '')}: only every year on the same date can be kept. List its dates one by one.`,
    )
  if (count === undefined && until === undefined) return { years: [0], yearly: true }
  const last = until === undefined ? Number.POSITIVE_INFINITY : parseDay(String(until).slice(0, 10), name)
  const total = Math.min(count ?? maxYears, maxYears)
  const years = Array.from({ length: total }, (_, year) => year)
  return { years: years.filter((year) => inYear(begin, year) <= last), yearly: false }
}

function countDays(event: Event, begin: number, name: string): number {
  const end = readText(event, 'dtend')
  const [, count, unit] = /^P(\d{1,3})([DW])$/.exec(readText(event, 'duration') || 'P1D') ?? []
  const days =
    end === '' ? Number(count ?? Number.NaN) * (unit === 'W' ? 7 : 1) : (parseDay(end, name) - begin) / dayMs
  if (days >= 1 && days <= maxDays) return days
  if (days === 0) return 1
  throw invalidIcal('too_long', `${name || 'An event'} must last from 1 to ${maxDays} whole days.`)
}

/** Midnight of a date such as 2026-12-25, in UTC. */
function parseDay(value: string, name: string): number {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(at) || formatDate(at) !== value)
    throw invalidIcal(
      'no_date',
      `${name || 'An event'} is not of whole days: ${value || 'no DTSTART'}. Holidays have dates such as 20261225.`,
    )
  return at
}

/** The same date so many years later; 29 February comes to be 1 March where there is none. */
function inYear(begin: number, years: number): number {
  const date = new Date(begin)
  return Date.UTC(date.getUTCFullYear() + years, date.getUTCMonth(), date.getUTCDate())
}

const formatDate = (at: number): string => new Date(at).toISOString().slice(0, 10)

const invalidIcal = (code: string, message: string) => invalidField('/ical', code, message)
