import { invalidField, type SlaCalendarState } from '@opsplane/contracts'

export type Holiday = SlaCalendarState['holidays'][number]

interface Property {
  name: string
  value: string
}
type Event = Map<string, string>

const dayMs = 86_400_000
/** Later ones are not written with four digits of the year, and no calendar could be read that had one. */
const lastDay = Date.UTC(9999, 11, 31)
const longestDays = 31
const mostYears = 50
/** Far more than a calendar keeps, as dates may come twice. */
const mostHolidays = 5_000

/**
 * The holidays of a calendar in iCalendar format (RFC 5545): its events of whole days, each day of longer ones, and
 * those that return every year on their date. Throws validation_failed for what would get lost: events at times of
 * day, and other recurrences.
 */
export function holidaysIn(ical: string): Holiday[] {
  const properties = propertiesOf(ical)
  if (properties[0]?.name !== 'BEGIN' || properties[0].value.toUpperCase() !== 'VCALENDAR')
    throw refused('not_ical', 'This is no iCalendar text: it begins with BEGIN:VCALENDAR.')
  const holidays: Holiday[] = []
  for (const event of eventsOf(properties)) {
    holidays.push(...holidaysOf(event))
    if (holidays.length > mostHolidays)
      throw refused('too_many', `These are more than ${mostHolidays} days; take the years that matter.`)
  }
  return holidays
}

/** Lines that begin with a space go on with the line before. */
function propertiesOf(ical: string): Property[] {
  const lines = ical
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
  return lines.flatMap((line) => {
    const end = valueAt(line)
    if (end < 0) return []
    const [name = ''] = line.slice(0, end).split(';')
    return [{ name: name.toUpperCase(), value: line.slice(end + 1).trim() }]
  })
}

/** The value comes after the first colon outside quotes; what parameters say, dates show themselves. */
function valueAt(line: string): number {
  let quoted = false
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') quoted = !quoted
    if (line[at] === ':' && !quoted) return at
  }
  return -1
}

/** Without what is nested in them, such as alarms. */
function eventsOf(properties: readonly Property[]): Event[] {
  const events: Event[] = []
  const within: string[] = []
  for (const { name, value } of properties) {
    if (name === 'BEGIN') {
      within.push(value.toUpperCase())
      if (within.at(-1) === 'VEVENT') events.push(new Map())
    } else if (name === 'END') within.pop()
    else if (within.at(-1) === 'VEVENT') events.at(-1)?.set(name, value)
  }
  return events.filter((event) => event.get('STATUS')?.toUpperCase() !== 'CANCELLED')
}

function holidaysOf(event: Event): Holiday[] {
  const name = textOf(event.get('SUMMARY') ?? '').slice(0, 100)
  const begin = dayOf(event.get('DTSTART') ?? '', name)
  const days = daysOf(event, begin, name)
  const { years, yearly } = recurrenceOf(event, begin, name)
  const last = inYear(begin, years.at(-1) ?? 0) + (days - 1) * dayMs
  if (last > lastDay)
    throw refused('no_date', `${name || 'An event'} goes on beyond the year 9999, where dates end.`)
  return years.flatMap((year) =>
    Array.from({ length: days }, (_, day) => ({
      date: dateOf(inYear(begin, year) + day * dayMs),
      yearly,
      name,
    })),
  )
}

/** How many years on it returns: once, each of a number of years, or every year from its date. */
function recurrenceOf(event: Event, begin: number, name: string): { years: number[]; yearly: boolean } {
  const rule = event.get('RRULE')
  if (rule === undefined) return { years: [0], yearly: false }
  const parts = rule.split(';').map((part) => part.toUpperCase().split('='))
  const {
    FREQ,
    INTERVAL = '1',
    BYMONTH,
    BYMONTHDAY,
    COUNT,
    UNTIL,
    WKST: _,
    ...others
  } = Object.fromEntries(parts)
  const [, month, day] = dateOf(begin).split('-').map(Number)
  const onItsDate =
    (BYMONTH === undefined || Number(BYMONTH) === month) &&
    (BYMONTHDAY === undefined || Number(BYMONTHDAY) === day)
  const counted = COUNT === undefined || /^[1-9]\d{0,3}$/.test(COUNT)
  const plain =
    FREQ === 'YEARLY' && INTERVAL === '1' && onItsDate && counted && Object.keys(others).length === 0
  if (!plain || event.has('EXDATE'))
    throw refused(
      'unknown_recurrence',
      `${name || 'An event'} recurs by ${rule}: only every year on the same date can be kept. List its dates one by one.`,
    )
  if (COUNT === undefined && UNTIL === undefined) return { years: [0], yearly: true }
  const until = UNTIL === undefined ? Number.POSITIVE_INFINITY : dayOf(UNTIL.slice(0, 8), name)
  const most = Math.min(COUNT === undefined ? mostYears : Number(COUNT), mostYears)
  const years = Array.from({ length: most }, (_, year) => year)
  return { years: years.filter((year) => inYear(begin, year) <= until), yearly: false }
}

function daysOf(event: Event, begin: number, name: string): number {
  const end = event.get('DTEND')
  const [, count, unit] = /^P(\d{1,3})([DW])$/.exec(event.get('DURATION') ?? 'P1D') ?? []
  const days =
    end === undefined
      ? Number(count ?? Number.NaN) * (unit === 'W' ? 7 : 1)
      : (dayOf(end, name) - begin) / dayMs
  if (days >= 1 && days <= longestDays) return days
  if (days === 0) return 1
  throw refused('too_long', `${name || 'An event'} must last from 1 to ${longestDays} whole days.`)
}

/** Midnight of a date such as 20261225, in UTC. */
function dayOf(value: string, name: string): number {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(value) ?? []
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  if (Number.isNaN(at) || dateOf(at) !== `${year}-${month}-${day}`)
    throw refused(
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

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const textOf = (value: string): string =>
  value.replaceAll(/\\([nN,;\\])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? ' ' : sign)).trim()

const refused = (code: string, message: string) => invalidField('/ical', code, message)
