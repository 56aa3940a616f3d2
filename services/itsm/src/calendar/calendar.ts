import { type SlaCalendarState, type SlaGoalUnit, type SlaHours, weekdays } from '@opsplane/contracts'
import { type TimeMeasure, timeMeasures } from './measure.js'
import { findZone, type Zone } from './zone.js'

/** An open time span in Unix milliseconds. The end is exclusive. */
export interface Span {
  from: number
  to: number
}

/**
 * Business calendar. An instant is open if the wall clock of the zone then shows a time within the open hours of its
 * date. The goal's unit decides how open time counts. Minutes count as they are. For business days, the open time of
 * each date adds up to 24 hours and counts proportionally.
 */
export interface Calendar {
  businessMsBetween(from: number, to: number): number
  /**
   * Returns the first instant by which `ms` have been counted, or `null` if the calendar never has that much
   * open time.
   */
  addBusinessMs(from: number, ms: number): number | null
  openBetween(from: number, to: number): Span[]
}

export type CalendarHours = Pick<SlaCalendarState, 'timeZone' | 'week' | 'holidays' | 'exceptions'>

export const aroundTheClock: Calendar = {
  businessMsBetween: (from, to) => Math.max(0, to - from),
  addBusinessMs: (from, ms) => from + ms,
  openBetween: (from, to) => (to > from ? [{ from, to }] : []),
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** Larger than any UTC offset in existence. */
export const maxOffsetMs = 16 * 3_600_000
/** A goal is at most one year of open hours. A goal not reached within this many years is never reached. */
const horizonYears = 20

/** An open span, with the open time of its date before it (`passed`) and in total (`ofDate`). */
interface OpenSpan extends Span {
  passed: number
  ofDate: number
}

/** The open spans of one local year, with the time counted before each span and in total. */
interface OpenYear {
  spans: OpenSpan[]
  before: number[]
  total: number
}

/** Computes each year on first use and caches it, so any time range costs one step per year and two binary searches. */
export function createCalendar(hours: CalendarHours, unit: SlaGoalUnit = 'minutes'): Calendar {
  const zone = findZone(hours.timeZone)
  const measure = timeMeasures[unit]
  const years = new Map<number, OpenYear>()
  const open = (year: number): OpenYear => {
    const known = years.get(year) ?? buildYear(year, hours, zone, measure)
    years.set(year, known)
    return known
  }
  const yearOf = (instant: number) => new Date(instant + zone.offsetAt(instant)).getUTCFullYear()

  return {
    businessMsBetween(from, to) {
      let sum = 0
      for (let year = yearOf(from); to > from && year <= yearOf(to); year++)
        sum += countedUntil(open(year), to, measure) - countedUntil(open(year), from, measure)
      return sum
    },
    addBusinessMs(from, ms) {
      if (ms <= 0) return from
      const first = yearOf(from)
      let left = ms + countedUntil(open(first), from, measure)
      for (let year = first; year < first + horizonYears; year++) {
        const { spans, before, total } = open(year)
        if (left <= total) {
          const index = lastBelow(before, left)
          const span = spans[index]
          return span ? reachedIn(span, left - (before[index] ?? 0), measure) : from
        }
        left -= total
      }
      return null
    },
    openBetween(from, to) {
      const found: Span[] = []
      for (let year = yearOf(from); to > from && year <= yearOf(to); year++) {
        for (const span of open(year).spans)
          if (span.to > from && span.from < to)
            found.push({ from: Math.max(span.from, from), to: Math.min(span.to, to) })
      }
      return found
    },
  }
}

/** Returns the time counted in the year before `instant`. */
function countedUntil({ spans, before }: OpenYear, instant: number, measure: TimeMeasure): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.from ?? 0) < instant) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span ? (before[low - 1] ?? 0) + countedIn(span, Math.min(instant, span.to), measure) : 0
}

/**
 * Returns the time a span counts until an instant within it. Computed
 * as a difference of totals per date, so that nothing is rounded twice.
 */
function countedIn({ from, passed, ofDate }: OpenSpan, until: number, { counted }: TimeMeasure): number {
  return counted(passed + until - from, ofDate) - counted(passed, ofDate)
}

/** Returns the first instant in a span by which `ms` have been counted in it. */
function reachedIn({ from, passed, ofDate }: OpenSpan, ms: number, { counted, needed }: TimeMeasure): number {
  return from + needed(ms + counted(passed, ofDate), ofDate) - passed
}

/** Index of the last number below `limit`. */
function lastBelow(sorted: number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function buildYear(year: number, hours: CalendarHours, zone: Zone, measure: TimeMeasure): OpenYear {
  const spans: OpenSpan[] = []
  const hoursOn = hoursByDate(hours)
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += dayMs)
    spans.push(...toOpenSpans(openSpans(day, hoursOn(day), zone)))
  spans.sort(byStart)
  let total = 0
  const before = spans.map((span) => {
    const countedMs = countedIn(span, span.to, measure)
    total += countedMs
    return total - countedMs
  })
  return { spans, before, total }
}

const byStart = (left: Span, right: Span) => left.from - right.from

function toOpenSpans(spans: Span[]): OpenSpan[] {
  const ofDate = spans.reduce((sum, { from, to }) => sum + to - from, 0)
  let passed = 0
  return spans.sort(byStart).map(({ from, to }) => {
    passed += to - from
    return { from, to, passed: passed - (to - from), ofDate }
  })
}

function hoursByDate({ week, holidays, exceptions }: CalendarHours): (day: number) => readonly SlaHours[] {
  const exceptional = new Map(exceptions.map(({ date, hours }) => [date, hours]))
  const closed = new Set(holidays.map(({ date, yearly }) => (yearly ? date.slice(5) : date)))
  return (day) => {
    const instant = new Date(day)
    const date = instant.toISOString().slice(0, 10)
    const special = exceptional.get(date)
    if (special) return special
    if (closed.has(date) || closed.has(date.slice(5))) return []
    const weekday = weekdays[(instant.getUTCDay() + 6) % 7]
    return (weekday && week[weekday]) ?? []
  }
}

/**
 * Returns the spans in which the wall clock shows these hours of this date. Times that the clock skips are missing, and
 * times that it shows twice count twice. `day` is the midnight of the date read as UTC.
 */
export function openSpans(day: number, hours: readonly SlaHours[], zone: Zone): Span[] {
  if (hours.length === 0) return []
  const start = day - maxOffsetMs
  const end = day + dayMs + maxOffsetMs
  const edges = [start, ...zone.changesBetween(start, end), end]
  const spans: Span[] = []
  for (const [index, from] of edges.slice(0, -1).entries()) {
    const to = edges[index + 1] ?? end
    const midnight = day - zone.offsetAt(from)
    for (const { from: opens, to: closes } of hours) {
      const span = {
        from: Math.max(from, midnight + timeOfDayMs(opens)),
        to: Math.min(to, midnight + timeOfDayMs(closes)),
      }
      if (span.to > span.from) spans.push(span)
    }
  }
  return spans
}

/** Converts a time such as `09:30` or `24:00` to milliseconds since midnight. */
export function timeOfDayMs(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return (hour * 60 + minute) * minuteMs
}
