import { weekdays } from '@opsplane/contracts'
import type { CalendarHours } from '../../calendar/calendar.js'

/**
 * Includes half-hour and quarter-hour offsets, and daylight saving
 * time in both hemispheres, by an hour and by half an hour.
 */
export const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'America/Santiago',
  'Africa/Casablanca',
]

export function nine2five(timeZone: string): CalendarHours {
  const hours = [{ from: '09:00', to: '17:00' }]
  const week = Object.fromEntries(weekdays.slice(0, 5).map((day) => [day, hours]))
  return { timeZone, week, holidays: [], exceptions: [] }
}

/** Random open hours of every kind: several spans, nights, until 24:00, holidays and exceptions. */
export function sampleHours(timeZone: string, random: () => number): CalendarHours {
  const time = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  const date = () => new Date(Date.UTC(2026, 0, 1 + Math.floor(random() * 365))).toISOString().slice(0, 10)
  const dayHours = () => {
    const edges = new Set(Array.from({ length: 4 }, () => Math.floor(random() * 1441)))
    const sorted = [...edges].sort((a, b) => a - b)
    if (random() < 0.2) return [{ from: '00:00', to: '24:00' }]
    return [0, 2].flatMap((index) => {
      const [from, to] = [sorted[index], sorted[index + 1]]
      return from === undefined || to === undefined ? [] : [{ from: time(from), to: time(to) }]
    })
  }
  const open = weekdays.filter((day) => day === 'monday' || random() < 0.8)
  const dates = [...new Set(Array.from({ length: 6 }, date))]
  return {
    timeZone,
    week: Object.fromEntries(open.map((day) => [day, dayHours()])),
    holidays: Array.from({ length: 10 }, () => ({ date: date(), yearly: random() < 0.5, name: '' })),
    exceptions: dates.map((date) => ({ date, hours: dayHours() })),
  }
}

/** Reference implementation that checks the wall clock minute by minute, without any offset arithmetic. */
export interface WallClock {
  between(from: number, to: number): number
  /** Returns the first instant by which `ms` are counted; `null` if it is outside the known range. */
  add(from: number, ms: number): number | null
}

const minuteMs = 60_000

function openOf(hours: CalendarHours, start: number, days: number): Uint8Array {
  const open = new Uint8Array(days * 1440)
  const byDate = new Map<string, Uint8Array>()
  for (const [quarter, { date, weekday, minutes }] of wallQuarters(hours.timeZone, start, days).entries()) {
    const day = byDate.get(date) ?? dayMinutes(hours, date, weekday)
    byDate.set(date, day)
    for (let minute = 0; minute < 15; minute++) open[quarter * 15 + minute] = day[minutes + minute] ?? 0
  }
  return open
}

export function openMinutes(hours: CalendarHours, start: number, days: number): WallClock {
  const open = openOf(hours, start, days)
  const first = (from: number) => Math.floor((from - start) / minuteMs)
  /** Number of open minutes before each minute. */
  const openBefore = new Float64Array(open.length + 1)
  for (let minute = 0; minute < open.length; minute++)
    openBefore[minute + 1] = (openBefore[minute] ?? 0) + (open[minute] ?? 0)
  const openUntil = (instant: number) => {
    const minute = Math.min(first(instant), open.length)
    const begun = open[minute] === 1 ? instant - start - minute * minuteMs : 0
    return (openBefore[minute] ?? 0) * minuteMs + begun
  }
  return {
    between: (from, to) => Math.max(0, openUntil(to) - openUntil(from)),
    add(from, ms) {
      let left = ms
      for (let minute = first(from); minute < open.length; minute++) {
        if (open[minute] === 0) continue
        const begins = Math.max(from, start + minute * minuteMs)
        const ends = start + (minute + 1) * minuteMs
        if (ends - begins >= left) return begins + left
        left -= ends - begins
      }
      return null
    },
  }
}

/**
 * Counts business days: first sums the open time of each date, then computes minute by minute how much of it has
 * passed. The first and the last date are only partly known.
 */
export function openDays(hours: CalendarHours, start: number, days: number): WallClock {
  const open = openOf(hours, start, days)
  const dates = datesByMinute(wallQuarters(hours.timeZone, start, days))
  const dateOf = (minute: number) => dates[minute] ?? 0
  const ofDate = new Float64Array(days + 2)
  for (let minute = 0; minute < open.length; minute++)
    if (open[minute] === 1) ofDate[dateOf(minute)] = (ofDate[dateOf(minute)] ?? 0) + minuteMs

  const passedOfDate = new Float64Array(days + 2)
  const passedAt = new Float64Array(open.length)
  const countedAt = new Float64Array(open.length + 1)
  // Avoids a lookup of `Math` for each minute, which is slow in Jest's sandbox.
  const { floor } = Math
  const share = (date: number, ms: number) => floor((ms * 86_400_000) / (ofDate[date] || 1))
  for (let minute = 0; minute < open.length; minute++) {
    const date = dateOf(minute)
    const before = passedOfDate[date] ?? 0
    passedAt[minute] = before
    const counts = open[minute] === 1 ? share(date, before + minuteMs) - share(date, before) : 0
    countedAt[minute + 1] = (countedAt[minute] ?? 0) + counts
    if (open[minute] === 1) passedOfDate[date] = before + minuteMs
  }
  const countedUntil = (instant: number) => {
    const minute = Math.floor((instant - start) / minuteMs)
    const before = countedAt[minute] ?? Number.NaN
    if (open[minute] !== 1) return before
    const [date, had] = [dateOf(minute), passedAt[minute] ?? 0]
    return before + share(date, had + instant - start - minute * minuteMs) - share(date, had)
  }
  return {
    between: (from, to) => countedUntil(to) - countedUntil(from),
    add(from, ms) {
      const wanted = countedUntil(from) + ms
      for (let minute = Math.floor((from - start) / minuteMs); minute < open.length; minute++) {
        if ((countedAt[minute + 1] ?? 0) < wanted) continue
        let [below, reached] = [start + minute * minuteMs, start + (minute + 1) * minuteMs]
        while (reached - below > 1) {
          const middle = Math.floor((below + reached) / 2)
          if (countedUntil(middle) < wanted) below = middle
          else reached = middle
        }
        return reached
      }
      return null
    },
  }
}

/** Returns the number of the date shown at each minute. */
function datesByMinute(quarters: readonly WallTime[]): Int32Array {
  const numbers = new Map<string, number>()
  const dates = new Int32Array(quarters.length * 15)
  for (const [quarter, { date }] of quarters.entries()) {
    const number = numbers.get(date) ?? numbers.size
    numbers.set(date, number)
    dates.fill(number, quarter * 15, quarter * 15 + 15)
  }
  return dates
}

interface WallTime {
  date: string
  weekday: string
  minutes: number
}

const wallTimes = new Map<string, WallTime[]>()

/** Returns the wall-clock time of every quarter hour. In every zone, offsets change on a quarter hour. */
export function wallQuarters(timeZone: string, start: number, days: number): WallTime[] {
  const key = `${timeZone} ${start} ${days}`
  const known = wallTimes.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const quarters = Array.from({ length: days * 96 }, (_, quarter) => {
    const [date = '', time = ''] = format.format(start + quarter * 15 * minuteMs).split(' ')
    const [hour = 0, minute = 0] = time.split(':').map(Number)
    const weekday = weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7] ?? ''
    return { date, weekday, minutes: hour * 60 + minute }
  })
  wallTimes.set(key, quarters)
  return quarters
}

function dayMinutes(hours: CalendarHours, date: string, weekday: string): Uint8Array {
  const exception = hours.exceptions.find((entry) => entry.date === date)
  const holiday = hours.holidays.some((entry) =>
    entry.yearly ? entry.date.slice(5) === date.slice(5) : entry.date === date,
  )
  const day = weekdays.find((name) => name === weekday)
  const regular = holiday || !day ? [] : (hours.week[day] ?? [])
  const toMinutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
  const minutes = new Uint8Array(1440)
  for (const { from, to } of exception?.hours ?? regular) minutes.fill(1, toMinutes(from), toMinutes(to))
  return minutes
}
