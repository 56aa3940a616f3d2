import { z } from 'zod'

const day = z.regexes.date.source.slice(1, -1)
const timeOfDay = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?`
const offset = String.raw`(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
const instant = new RegExp(`^${day}[Tt]${timeOfDay}${offset}$`)
const maxCharacters = 64

/**
 * An instant as clients write it: of RFC 3339 with any offset and precision, also without seconds. What is compared is UTC with
 * milliseconds, as it is stored. The one schema of instants that come in.
 */
export const Moment = z
  .string()
  .max(maxCharacters)
  .regex(instant, {
    abort: true,
    error: 'must be an instant such as 2026-03-02T10:00:00Z or 2026-03-02T11:00:00+01:00',
  })
  .overwrite((text) => new Date(text.toUpperCase()).toISOString())
  .refine((text) => /^(?!0000)\d{4}-/.test(text), 'must be in the years 1 to 9999')
  .meta({ format: 'date-time' })

/** A day of the calendar, by whatever clock. The one schema of dates that come in. */
export const CalendarDay = z.iso
  .date({ abort: true, error: 'must be a date such as 2026-03-02' })
  .refine((text) => !text.startsWith('0000'), 'must be in the years 1 to 9999')

/**
 * An instant that is compared with: a day stands for when it begins, by the clock of a zone that is named with it. The one
 * schema of such instants. In the query of a route (`zonedDays`) its handler sees the instant; in a body `instantIn` finds it.
 */
export const MomentOrDay = z.union([Moment, CalendarDay], {
  error: 'must be an instant such as 2026-03-02T10:00:00Z, or a date such as 2026-03-02',
})

/** Whether one is later than the other. Of a date and an instant that is known where the zone is (`instantIn`): here it is not. */
export const isLater = (one: string, other: string): boolean => one.length === other.length && one > other
