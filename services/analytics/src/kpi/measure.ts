import { AnalyticsQuery, type KpiState, type Quantity, type QueryAnswer } from '@opsplane/contracts'
import { parseDecimal, toQuantity } from '../decimal/decimal.js'
import type { QueryCaller, QueryRunner } from '../query/types.js'
import type { TimePeriod } from './period.js'

/** A value, with the age of its data. */
export interface Measurement {
  value: Quantity | null
  dataAsOf: string
}

/** Builds the query whose totals contain the KPI's value for a period, and names the column of that value. */
export function buildKpiQuery(
  { source, timeZone }: Pick<KpiState, 'source' | 'timeZone'>,
  { from, to }: TimePeriod,
): { query: AnalyticsQuery; column: string } {
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  if ('measure' in source) {
    const { dataset, measure, filters } = source.measure
    return {
      query: AnalyticsQuery.parse({ dataset, measures: [measure], filters, range, timeZone, limit: 1 }),
      column: measure,
    }
  }
  const { grain: _, comparePrevious: __, sort: ___, range: ____, ...asked } = source.query
  // Records without a time field are counted as they are at the time of measurement.
  const timed = asked.dataset !== undefined || asked.timeField !== undefined ? { range } : {}
  return {
    query: AnalyticsQuery.parse({ ...asked, ...timed, dimensions: [], timeZone, limit: 1 }),
    column: source.column,
  }
}

/** Maps pointers into that query to pointers into the KPI. */
export const toSourcePointer =
  ({ source }: Pick<KpiState, 'source'>) =>
  (pointer: string): string => {
    if (pointer === '/timeZone') return pointer
    const own = 'measure' in source ? pointer.replace(/^\/measures\/0$/, '/measure') : pointer
    return `/source/${'measure' in source ? 'measure' : 'query'}${own}`
  }

/** Whether the past can be measured like the present, because facts do not change. */
export const isOfFacts = ({ source }: Pick<KpiState, 'source'>): boolean =>
  'measure' in source || source.query.dataset !== undefined

export async function measureKpi(
  runner: Pick<QueryRunner, 'runQuery'>,
  caller: QueryCaller,
  state: Pick<KpiState, 'source' | 'timeZone'>,
  { covered, signal }: { covered: TimePeriod; signal: AbortSignal },
): Promise<Measurement> {
  const { query, column } = buildKpiQuery(state, covered)
  const answer = await runner.runQuery(caller, query, signal)
  return { value: readTotal(answer, column), dataAsOf: answer.dataAsOf }
}

function readTotal({ totals }: QueryAnswer, column: string): Quantity | null {
  const value = parseDecimal(totals?.[column])
  return value ? toQuantity(value) : null
}
