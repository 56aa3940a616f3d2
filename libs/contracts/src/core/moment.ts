import { z } from 'zod'

const day = z.regexes.date.source.slice(1, -1)
const timeOfDay = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?`
const offset = String.raw`(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
const instant = new RegExp(`^${day}[Tt]${timeOfDay}${offset}$`)
const maxCharacters = 64

/**
 * An instant in a request: RFC 3339 with any offset and precision, seconds optional. Parsed to UTC with milliseconds,
 * the form in which instants are stored and compared. Every instant in a request uses this schema.
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

/** A calendar date without a time zone. Every date in a request uses this schema. */
export const CalendarDay = z.iso
  .date({ abort: true, error: 'must be a date such as 2026-03-02' })
  .refine((text) => !text.startsWith('0000'), 'must be in the years 1 to 9999')

/**
 * An instant used in comparisons; a date stands for the start of that day in the time zone given with it. Every such
 * instant uses this schema. In a route's query (`zonedDays`) the handler receives the instant; in a body `instantIn`
 * computes it.
 */
export const MomentOrDay = z.union([Moment, CalendarDay], {
  error: 'must be an instant such as 2026-03-02T10:00:00Z, or a date such as 2026-03-02',
})

/** Whether `one` is later than `other`. `false` for a date and an instant: comparing them needs a zone (`instantIn`). */
export const isLater = (one: string, other: string): boolean => one.length === other.length && one > other
