import { invalidField, type SlaCalendarState } from '@opsplane/contracts'
import type { Holiday } from './ical.js'

/** Imported holidays, added to those of a calendar or replacing them. */
export interface NewHolidays {
  holidays: readonly Holiday[]
  replace: boolean
}

/** As many as a PATCH takes. */
const maxHolidays = 500

/** In the order of their dates; one that is there already stays as it is. Throws validation_failed for too many. */
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
