import { ApiError, canonicalJson, type KpiPeriod, type KpiState, type Schedule } from '@opsplane/contracts'
import { createTimes, instantIn } from '@opsplane/runtime'

const crons = {
  hour: '1 * * * *',
  day: '1 0 * * *',
  week: '1 0 * * MON',
  month: '1 0 1 * *',
  quarter: '1 0 1 1,4,7,10 *',
} as const

/** A minute after each of the periods; every hour where they have no ends of their own. */
export const defaultSchedule = (period: KpiPeriod, timeZone: string): Schedule => ({
  cron: 'last' in period ? crons[period.last] : '0 * * * *',
  timeZone,
  ...{ overlap: 'queue', misfire: 'all', maxCatchUp: 100 },
})

/** The schedule that follows from the period, where it was left to that; otherwise as it is. */
export function updateSchedule(
  before: Pick<KpiState, 'period' | 'timeZone' | 'schedule'>,
  after: Pick<KpiState, 'period' | 'timeZone'>,
): Schedule {
  const usual = canonicalJson(defaultSchedule(before.period, before.timeZone))
  return canonicalJson(before.schedule) === usual
    ? defaultSchedule(after.period, after.timeZone)
    : before.schedule
}

const maxTimes = 2_000

/**
 * Times from `from` on and before `to` at which a KPI would have been measured, had it been there: also before its
 * schedule begins, of an interval those that lie on its grid. Throws `validation_failed` for more than 2,000.
 */
export function pastTimes(
  { schedule, createdAt }: Pick<KpiState, 'schedule' | 'createdAt'>,
  { from, to }: { from: number; to: number },
): number[] {
  const { startAt, timeZone = 'UTC', ...unbounded } = schedule
  const everyMs = (schedule.everySeconds ?? 0) * 1_000
  const anchor = Date.parse(instantIn(timeZone, startAt ?? createdAt))
  const first = anchor - Math.ceil((anchor - from) / everyMs) * everyMs
  const grid = everyMs > 0 ? { startAt: new Date(first).toISOString() } : {}
  const times = createTimes({ ...unbounded, timeZone, ...grid })
  const found: number[] = []
  for (let at = times.after(from - 1); at !== undefined && at < to; at = times.after(at)) {
    found.push(at)
    if (found.length > maxTimes)
      throw new ApiError('validation_failed', `There are more than ${maxTimes} times between from and to.`)
  }
  return found
}
