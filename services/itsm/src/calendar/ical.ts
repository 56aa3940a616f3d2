import { invalidField, type SlaCalendarState } from '@opsplane/contracts'
import ICAL from 'ical.js'
import { z } from 'zod'

export type Holiday = SlaCalendarState['holidays'][number]

type Event = ICAL.Component

const dayMs = 86_400_000
/** Later dates need more than four digits for the year, and a calendar that contained one could not be read. */
const lastDay = Date.UTC(9999, 11, 31)
const maxDays = 31
const maxYears = 50
/** Far more than a calendar can store, because the same date may occur twice. */
const maxHolidays = 5_000
/** Length after unfolding. The time to parse a line grows with its length. */
const maxLineLength = 10_000

/**
 * Reads the holidays of a calendar in iCalendar format (RFC 5545): all-day events, every day of events that last
 * several days, and events that recur every year on the same date. Throws validation_failed for anything that would be
 * lost: events with a time of day, and other recurrences.
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

/** Returns the events of the first calendar, without the canceled ones. */
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

/** A recurrence rule in jCal form. */
const Rule = z.looseObject({
  freq: z.string(),
  interval: z.number().optional(),
  bymonth: z.unknown().optional(),
  bymonthday: z.unknown().optional(),
  count: z.number().optional(),
  until: z.string().optional(),
  wkst: z.unknown().optional(),
})

/** Reads a property in jCal form (RFC 7265): dates have dashes, and a recurrence is an object. */
const readJcal = (event: Event, name: string): unknown => event.getFirstProperty(name)?.toJSON()[3]

const readText = (event: Event, name: string): string => {
  const value = readJcal(event, name)
  // ical.js appends `T::` to a date without a time where the property defaults to a date with a time.
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

/** Returns the years, counted from the event's own, in which it occurs: once, in a number of years, or every year. */
function parseRecurrence(event: Event, begin: number, name: string): { years: number[]; yearly: boolean } {
  const rule = readJcal(event, 'rrule')
  if (rule === undefined) return { years: [0], yearly: false }
  const { freq, interval = 1, bymonth, bymonthday, count, until, wkst: _, ...others } = Rule.parse(rule)
  const [, month, day] = formatDate(begin).split('-').map(Number)
  const onItsDate =
    (bymonth === undefined || bymonth === month) && (bymonthday === undefined || bymonthday === day)
  const hasPositiveCount = count === undefined || count >= 1
  const plain =
    freq === 'YEARLY' && interval === 1 && onItsDate && hasPositiveCount && Object.keys(others).length === 0
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

/** Converts a date such as 2026-12-25 to its midnight in UTC. */
function parseDay(value: string, name: string): number {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(at) || formatDate(at) !== value)
    throw invalidIcal(
      'no_date',
      `${name || 'An event'} is not of whole days: ${value || 'no DTSTART'}. Holidays have dates such as 20261225.`,
    )
  return at
}

/** Returns the same date `years` later. 29 February becomes 1 March in years that are not leap years. */
function inYear(begin: number, years: number): number {
  const date = new Date(begin)
  return Date.UTC(date.getUTCFullYear() + years, date.getUTCMonth(), date.getUTCDate())
}

const formatDate = (at: number): string => new Date(at).toISOString().slice(0, 10)

const invalidIcal = (code: string, message: string) => invalidField('/ical', code, message)
