import { z } from 'zod'

/** Whether this runtime knows a zone of that name. Offsets such as `+02:00` are not names. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** An IANA time zone name. */
export const TimeZoneName = z
  .string()
  .min(1)
  .max(60)
  .refine(isTimeZone, 'must be the IANA name of a time zone, such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' })
