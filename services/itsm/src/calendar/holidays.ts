import { invalidField, type SlaCalendarState } from '@opsplane/contracts'
import type { Holiday } from './ical.js'

/** Imported holidays, which are added to the holidays of a calendar or replace them. */
export interface NewHolidays {
  holidays: readonly Holiday[]
  replace: boolean
}

/** The same limit as in a PATCH. */
const maxHolidays = 500

/**
 * Returns the holidays sorted by date. An existing holiday wins over an imported one of the same date.
 * Throws validation_failed if there are too many.
 */
export function mergeHolidays({ holidays, replace }: NewHolidays, calendar: SlaCalendarState) {
  const byDate = new Map<string, Holiday>()
  for (const holiday of [...(replace ? [] : calendar.holidays), ...holidays]) {
    const key = `${holiday.date} ${holiday.yearly}`
    if (!byDate.has(key)) byDate.set(key, holiday)
  }
  if (byDate.size > maxHolidays)
    throw invalidField(
      '/ical',
      'too_many',
      `A calendar has at most ${maxHolidays} holidays; these make ${byDate.size}.`,
    )
  return { holidays: [...byDate.values()].toSorted((left, right) => (left.date < right.date ? -1 : 1)) }
}
