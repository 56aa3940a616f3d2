const day = /^\d{4}-\d\d-\d\d$/
const instant = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$/
const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/

const isInstant = (text: string) => instant.test(text) && !Number.isNaN(Date.parse(text))

/** The reader's clock at an instant, to its milliseconds where it has any. */
function localTime(text: string): string {
  const at = new Date(text)
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 23)
}

/** A time as a datetime-local control writes it: no seconds or milliseconds that are zero. */
const shortened = (text: string) => text.replace(/\.000$/, '').replace(/(T\d\d:\d\d):00$/, '$1')

/** How a time is put into a datetime-local control; a time without a zone is shown as it is. */
export function typedTime(text: string): string {
  if (isInstant(text)) return shortened(localTime(text))
  if (zoneless.test(text)) return shortened(text.replace(' ', 'T').slice(0, 23))
  return day.test(text) ? `${text}T00:00` : ''
}

/** How a day is put into a date control: of an instant, the reader's day. */
export const typedDay = (text: string): string =>
  isInstant(text) ? localTime(text).slice(0, 10) : text.slice(0, 10)

/** What a datetime-local control means: an instant; or, in place of a time without a zone, another such time. */
export function parseTypedTime(typed: string, before = ''): string | null {
  if (Number.isNaN(Date.parse(typed))) return null
  if (!zoneless.test(before)) return new Date(typed).toISOString()
  return /T\d\d:\d\d$/.test(typed) ? `${typed}:00` : typed
}

/** A day in place of what was there: of a time it keeps the time of the day. */
export function applyTypedDay(typed: string, before: string): string {
  if (zoneless.test(before)) return `${typed}${before.slice(10)}`
  return isInstant(before) ? new Date(`${typed}T${localTime(before).slice(11)}`).toISOString() : typed
}
