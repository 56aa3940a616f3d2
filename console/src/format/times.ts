const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const units: readonly [Intl.RelativeTimeFormatUnit, number, number][] = [
  // Unit, its length, and the duration up to which it is used.
  ['second', 1_000, minute],
  ['minute', minute, hour],
  ['hour', hour, day],
  ['day', day, 30 * day],
  ['month', 30.44 * day, 365.25 * day],
  ['year', 365.25 * day, Number.POSITIVE_INFINITY],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' })

/** Relative time, such as `4 min ago`; `now` within a few seconds. */
export function relativeTime(at: string, nowMs: number): string {
  const difference = Date.parse(at) - nowMs
  const size = Math.abs(difference)
  if (size < 5_000) return 'now'
  for (const [unit, length, limit] of units) {
    // 59.6 minutes are shown as one hour, not as 60 minutes.
    if (Math.round(size / length) * length < limit) return words(Math.round(difference / length), unit)
  }
  return at
}

const short: Partial<Record<Intl.RelativeTimeFormatUnit, string>> = {
  second: 's',
  minute: 'min',
  hour: 'h',
  day: 'd',
}

function words(count: number, unit: Intl.RelativeTimeFormatUnit): string {
  const name = short[unit]
  if (name === undefined) return relative.format(count, unit)
  return count < 0 ? `${-count} ${name} ago` : `in ${count} ${name}`
}

/** Formatters are cached per time zone, because creating one is slower than rendering the rest of a list row. */
function formatIn(
  options: Intl.DateTimeFormatOptions,
): (timeZone: string | undefined) => Intl.DateTimeFormat {
  const formats = new Map<string | undefined, Intl.DateTimeFormat>()
  return (timeZone) => {
    const known = formats.get(timeZone)
    if (known !== undefined) return known
    const made = new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone !== undefined && { timeZone }) })
    formats.set(timeZone, made)
    return made
  }
}

const exact = formatIn({
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  timeZoneName: 'short',
})
const clock = formatIn({ hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Date and time with seconds and the reader's time zone. */
export const exactTime = (at: string, timeZone?: string): string => exact(timeZone).format(new Date(at))

/** Time of day, for events within minutes of each other. */
export const clockTime = (at: string, timeZone?: string): string => clock(timeZone).format(new Date(at))

/** Formats a duration with its unit: `184 ms`, `1.2 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const rest = seconds % 60
  return rest === 0 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 60)} min ${rest} s`
}
