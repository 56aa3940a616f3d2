import { invalidField, type SlaCalendarState, type SlaHours } from '@opsplane/contracts'
import { createCalendar, timeOfDayMs } from './calendar.js'
import { findZone } from './zone.js'

/** Time within which a calendar must be open and every goal of a policy must be reached. */
export const yearMs = 365 * 86_400_000

/**
 * Throws validation_failed for a calendar that cannot be intended: an unknown zone, overlapping hours, no open
 * hours.
 */
export function checkCalendar(calendar: SlaCalendarState): SlaCalendarState {
  try {
    findZone(calendar.timeZone)
  } catch {
    throw invalidField('/timeZone', 'unknown_zone', 'There is no time zone of this name.')
  }
  for (const [day, hours] of Object.entries(calendar.week)) checkHours(`/week/${day}`, hours ?? [])
  for (const [index, { hours }] of calendar.exceptions.entries())
    checkHours(`/exceptions/${index}/hours`, hours)
  const dates = calendar.exceptions.map(({ date }) => date)
  if (new Set(dates).size < dates.length)
    throw invalidField('/exceptions', 'repeated_date', 'A date can have one exception only.')
  if (openInYearFrom(calendar) === 0)
    throw invalidField('/week', 'never_open', 'The calendar needs an open hour within a year.')
  return calendar
}

function checkHours(path: string, hours: readonly SlaHours[]): void {
  const sorted = hours.toSorted((left, right) => timeOfDayMs(left.from) - timeOfDayMs(right.from))
  for (const [index, { from, to }] of sorted.entries()) {
    if (timeOfDayMs(to) <= timeOfDayMs(from))
      throw invalidField(
        path,
        'empty_hours',
        `${from} to ${to} is no stretch of time within a day. A night is ${from} to 24:00, and 00:00 to ${to} of the next day.`,
      )
    const next = sorted[index + 1]
    if (next && timeOfDayMs(next.from) < timeOfDayMs(to))
      throw invalidField(path, 'overlapping_hours', `${from} to ${to} overlaps ${next.from} to ${next.to}.`)
  }
}

function openInYearFrom(calendar: SlaCalendarState): number {
  const from = Date.parse(calendar.updatedAt)
  return createCalendar(calendar).businessMsBetween(from, from + yearMs)
}
