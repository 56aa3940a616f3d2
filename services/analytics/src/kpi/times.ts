import { ApiError, canonicalJson, type KpiPeriod, type KpiState, type Schedule } from '@opsplane/contracts'
import { createTimes, instantIn } from '@opsplane/runtime'

const crons = {
  hour: '1 * * * *',
  day: '1 0 * * *',
  week: '1 0 * * MON',
  month: '1 0 1 * *',
  quarter: '1 0 1 1,4,7,10 *',
} as const

/** One minute after the end of each period; every hour if the period has no fixed ends. */
export const defaultSchedule = (period: KpiPeriod, timeZone: string): Schedule => ({
  cron: 'last' in period ? crons[period.last] : '0 * * * *',
  timeZone,
  ...{ overlap: 'queue', misfire: 'all', maxCatchUp: 100 },
})

/**
 * Returns the default schedule of the new period if the previous one was the default, otherwise the
 * schedule unchanged.
 */
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
 * Times in `[from, to)` at which the KPI would have been measured if it had existed, including those before the
 * schedule's start; for an interval, those on its grid. Throws `validation_failed` for more than 2,000.
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
