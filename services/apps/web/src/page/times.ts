const day = /^\d{4}-\d\d-\d\d$/
const instant = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$/
const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/

const isInstant = (text: string) => instant.test(text) && !Number.isNaN(Date.parse(text))

/** Local time of the reader at an instant, to the millisecond. */
function localTime(text: string): string {
  const at = new Date(text)
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 23)
}

/** Omits seconds and milliseconds that are zero, as a `datetime-local` control does. */
const shortened = (text: string) => text.replace(/\.000$/, '').replace(/(T\d\d:\d\d):00$/, '$1')

/** The value of a `datetime-local` control for a time. A time without a zone is shown unchanged. */
export function typedTime(text: string): string {
  if (isInstant(text)) return shortened(localTime(text))
  if (zoneless.test(text)) return shortened(text.replace(' ', 'T').slice(0, 23))
  return day.test(text) ? `${text}T00:00` : ''
}

/** The value of a date control; for an instant, the day in the reader's time zone. */
export const typedDay = (text: string): string =>
  isInstant(text) ? localTime(text).slice(0, 10) : text.slice(0, 10)

/** Parses a `datetime-local` value to an instant, or, if `before` has no time zone, to a time without a zone. */
export function parseTypedTime(text: string, before = ''): string | null {
  if (Number.isNaN(Date.parse(text))) return null
  if (!zoneless.test(before)) return new Date(text).toISOString()
  return /T\d\d:\d\d$/.test(text) ? `${text}:00` : text
}

/** Replaces the day of a value; a time keeps its time of day. */
export function applyTypedDay(typedDay: string, before: string): string {
  if (zoneless.test(before)) return `${typedDay}${before.slice(10)}`
  return isInstant(before) ? new Date(`${typedDay}T${localTime(before).slice(11)}`).toISOString() : typedDay
}
