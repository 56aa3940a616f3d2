import type { KpiPeriod } from '@opsplane/contracts'
import { type LocalClock, localClock } from '@opsplane/runtime'

type Unit = Extract<KpiPeriod, { last: string }>['last']

/** The period a value covers, in Unix milliseconds; `to` is exclusive. */
export interface TimePeriod {
  from: number
  to: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * The period covered by a KPI measured at an instant. Days and longer units follow the clock of the zone: a day with a
 * clock change has 23 or 25 hours.
 */
export function computePeriod(period: KpiPeriod, timeZone: string, at: number): TimePeriod {
  if ('seconds' in period) return { from: at - period.seconds * 1_000, to: at }
  const clock = localClock(timeZone)
  if (period.last === 'hour') {
    const to = at - modulo(at + clock.offsetAt(at), hourMs)
    return { from: to - hourMs, to }
  }
  const to = findStart(period.last, clock, at)
  return { from: findStart(period.last, clock, to - 1), to }
}

/** Start of the unit that contains an instant. */
function findStart(unit: Exclude<Unit, 'hour'>, clock: LocalClock, at: number): number {
  const shown = new Date(at + clock.offsetAt(at))
  const day = Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate())
  return clock.instantOf(findFirstDay(unit, shown, day))
}

function findFirstDay(unit: Exclude<Unit, 'hour'>, shown: Date, day: number): number {
  switch (unit) {
    case 'day':
      return day
    case 'week':
      return day - ((shown.getUTCDay() + 6) % 7) * dayMs
    case 'month':
      return Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth(), 1)
    case 'quarter':
      return Date.UTC(shown.getUTCFullYear(), Math.floor(shown.getUTCMonth() / 3) * 3, 1)
  }
}

const modulo = (value: number, by: number) => ((value % by) + by) % by
