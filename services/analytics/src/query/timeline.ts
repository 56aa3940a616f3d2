import { defaultRange, type Grain, type QueryRange } from '@opsplane/contracts'
import { isoText, type StatementRunner } from '@opsplane/postgres'
import { instantIn } from '@opsplane/runtime'
import { InvalidQuery } from './invalid-query.js'

/** The range in which facts count, and the starts of the intervals rows are grouped by: ISO instants. */
export interface Timeline {
  from: string
  to: string
  /** Ascending; the first is at or before `from`. A single bound if there is no grain. */
  bounds: string[]
}

export interface TimeRequest {
  range?: QueryRange | undefined
  grain?: Grain | undefined
  timeZone: string
  /** ISO instant. */
  now: string
}

const hourMs = 3_600_000
const lengths: Record<Grain, number> = {
  ...{ quarter_hour: hourMs / 4, hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs },
  ...{ month: 28 * 24 * hourMs, quarter: 90 * 24 * hourMs, year: 365 * 24 * hourMs },
}
const maxSpans = 10_000

/** The ends of a range as instants. Throws `InvalidQuery` if it does not end after its start. */
function fixedSpan(range: Extract<QueryRange, { from: string }>, timeZone: string) {
  const [from, to] = [range.from, range.to].map((end) => instantIn(timeZone, end)) as [string, string]
  if (from >= to) throw new InvalidQuery('/range/to', 'must be later than from')
  return { from, to }
}

/** Throws `InvalidQuery` if the range does not end after its start, by the clock of its zone. */
export function checkRange({ range, timeZone }: Pick<TimeRequest, 'range' | 'timeZone'>): void {
  if (range && 'from' in range) fixedSpan(range, timeZone)
}

/**
 * A relative range consists of whole units by the clock of the zone and ends with the current quarter hour, so that
 * answers stay valid until then.
 */
export async function buildTimeline(sql: StatementRunner, request: TimeRequest): Promise<Timeline> {
  const { range = defaultRange, timeZone, now } = request
  if ('from' in range) {
    const { from, to } = fixedSpan(range, timeZone)
    return withBounds(sql, request, from, to)
  }
  const { last, unit } = range
  const begun =
    unit === 'hour'
      ? `date_trunc('hour', $1::text::timestamptz, $2::text) - ${steps.hour} * ($3::text::integer - 1)`
      : `(date_trunc('${unit}', $1::text::timestamptz at time zone $2::text) - ${steps[unit]} * ($3::text::integer - 1)) at time zone $2::text`
  const [row] = await inZone(() =>
    sql.unsafe<{ at: string }[]>(`select ${iso(begun)} as at`, [now, timeZone, String(last)]),
  )
  const to = new Date(Math.ceil((Date.parse(now) + 1) / lengths.quarter_hour) * lengths.quarter_hour)
  return withBounds(sql, request, row?.at ?? now, to.toISOString())
}

/** The preceding period of the same length; for units by the clock of the zone, the same number of units. */
export async function buildPreviousTimeline(
  sql: StatementRunner,
  { range = defaultRange, ...asked }: TimeRequest,
  { from, to }: Timeline,
): Promise<Timeline> {
  if ('from' in range) {
    const before = new Date(2 * Date.parse(from) - Date.parse(to)).toISOString()
    return withBounds(sql, asked, before, from)
  }
  const back = (at: string) =>
    range.unit === 'hour'
      ? `${at} - ${steps.hour} * $4::text::integer`
      : `(${at} at time zone $3::text - ${steps[range.unit]} * $4::text::integer) at time zone $3::text`
  const [first, last] = ['$1::text::timestamptz', '$2::text::timestamptz'].map(back)
  const [row] = await sql.unsafe<{ first: string; last: string }[]>(
    `select ${iso(first ?? '')} as first, ${iso(last ?? '')} as last`,
    [from, to, asked.timeZone, String(range.last)],
  )
  return withBounds(sql, asked, row?.first ?? from, row?.last ?? to)
}

const steps: Record<Grain, string> = {
  quarter_hour: "interval '15 minutes'",
  hour: "interval '1 hour'",
  day: "interval '1 day'",
  week: "interval '7 days'",
  month: "interval '1 month'",
  quarter: "interval '3 months'",
  year: "interval '1 year'",
}

async function withBounds(
  sql: StatementRunner,
  { grain, timeZone }: Pick<TimeRequest, 'grain' | 'timeZone'>,
  from: string,
  to: string,
): Promise<Timeline> {
  if (!grain) return { from, to, bounds: [from] }
  if ((Date.parse(to) - Date.parse(from)) / lengths[grain] > maxSpans)
    throw new InvalidQuery('/grain', `makes more than ${maxSpans} spans of the range`)
  const rows = await inZone(() =>
    sql.unsafe<{ at: string }[]>(
      `select ${iso('at')} as at from (select distinct ${boundsSql(grain)} as at) b
       where at < $2::text::timestamptz order by b.at`,
      [from, to, ...(grain === 'quarter_hour' ? [] : [timeZone])],
    ),
  )
  return { from, to, bounds: rows.map(({ at }) => at) }
}

/** Hours follow the clock, including when it is set back and shows an hour twice. */
function boundsSql(grain: Grain): string {
  const [first, last] = ['$1::text::timestamptz', '$2::text::timestamptz']
  const quarters = `generate_series(date_bin('15 minutes', ${first}, 'epoch'::timestamptz), ${last}, '15 minutes')`
  if (grain === 'quarter_hour') return quarters
  if (grain === 'hour') return `date_trunc('hour', ${quarters}, $3::text)`
  const local = (at: string) => `${at} at time zone $3::text`
  return `generate_series(date_trunc('${grain}', ${local(first)}), ${local(last)}, ${steps[grain]}) at time zone $3::text`
}

const iso = (at: string) => isoText(`(${at})`)

/** Node.js may know time zones that Postgres does not. */
async function inZone<Result>(runQuery: () => Promise<Result>): Promise<Result> {
  try {
    return await runQuery()
  } catch (error) {
    if (error instanceof Error && /time zone ".*" not recognized/.test(error.message))
      throw new InvalidQuery('/timeZone', 'is not known here')
    throw error
  }
}
