import { type ChangeWindowState, weekdays } from '@opsplane/contracts'
import { maxOffsetMs, openSpans } from '../calendar/calendar.js'
import { findZone, type Zone } from '../calendar/zone.js'
import { overlap, type Span } from './spans.js'

export type Schedule = Pick<ChangeWindowState, 'span' | 'recurrence'>
export type Recurrence = NonNullable<Schedule['recurrence']>

const dayMs = 86_400_000

/** Returns every occurrence that overlaps [from, to), uncut, in order of beginning. */
export function occurrences({ span, recurrence }: Schedule, within: Span): Span[] {
  if (recurrence) return recurring(recurrence, within)
  if (!span) return []
  const once = { from: Date.parse(span.from), to: Date.parse(span.to) }
  return overlap(once, within) ? [once] : []
}

/** How far a recurrence is followed from its first possible day. A longer range contains no new pattern. */
const furthestMs = 400 * dayMs

function recurring(recurrence: Recurrence, within: Span): Span[] {
  const zone = findZone(recurrence.timeZone)
  const { validFrom, validUntil } = recurrence
  const found: Span[] = []
  // An occurrence may last into the day after the one it begins on.
  const earliest = startOfDay(within.from - maxOffsetMs) - 2 * dayMs
  const first = validFrom === null ? earliest : Math.max(earliest, Date.parse(validFrom))
  const end = Math.min(within.to + maxOffsetMs, first + furthestMs)
  const last = validUntil === null ? end : Math.min(end, Date.parse(validUntil))
  for (let day = first; day <= last; day += dayMs) {
    if (!beginsOn(recurrence, day)) continue
    const span = occurrenceOn(recurrence, day, zone)
    if (span && overlap(span, within)) found.push(span)
  }
  return found
}

const startOfDay = (instant: number) => Math.floor(instant / dayMs) * dayMs

function beginsOn({ weekdays: days }: Recurrence, day: number): boolean {
  const weekday = weekdays[(new Date(day).getUTCDay() + 6) % 7]
  return weekday !== undefined && days.includes(weekday)
}

/**
 * Returns the span from the first to the last instant at which the wall clock shows a time of the window; `null` if the
 * clock skips all of them. `day` is the midnight of the date read as UTC.
 */
function occurrenceOn({ from, to }: Recurrence, day: number, zone: Zone): Span | null {
  const pieces =
    from < to
      ? openSpans(day, [{ from, to }], zone)
      : [
          ...openSpans(day, [{ from, to: '24:00' }], zone),
          ...openSpans(day + dayMs, [{ from: '00:00', to }], zone),
        ]
  if (pieces.length === 0) return null
  return {
    from: Math.min(...pieces.map((piece) => piece.from)),
    to: Math.max(...pieces.map((piece) => piece.to)),
  }
}

/** When a window begins for the first time and ends for the last time; `null` if it is unbounded in that direction. */
export type Bounds = Pick<ChangeWindowState, 'startsAt' | 'endsAt'>

/**
 * A recurrence that continues is certain to occur within this time:
 * a week, plus any part of the next week that a zone may skip.
 */
const surelyMs = 21 * dayMs

/** Returns `null` if the window is never on. */
export function computeBounds({ span, recurrence }: Schedule): Bounds | null {
  if (!recurrence) return span && { startsAt: span.from, endsAt: span.to }
  const { validFrom, validUntil } = recurrence
  const around = (date: string, before: number, after: number) => {
    const day = Date.parse(date)
    return recurring(recurrence, { from: day - before, to: day + after })
  }
  const firsts = validFrom === null ? null : around(validFrom, dayMs, surelyMs)
  const lasts = validUntil === null ? null : around(validUntil, surelyMs, 3 * dayMs)
  if (firsts?.length === 0 || lasts?.length === 0) return null
  return { startsAt: instant(firsts?.[0]?.from), endsAt: instant(lasts?.at(-1)?.to) }
}

const instant = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
