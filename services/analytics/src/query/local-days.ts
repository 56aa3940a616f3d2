import {
  type AnalyticsQuery,
  CalendarDay,
  ExactNumber,
  type Filter,
  type Grain,
  type QueryAnswer,
  type ResultColumn,
  type ResultColumnType,
} from '@opsplane/contracts'
import { localClock, startOfDay } from '@opsplane/runtime'

type Condition = Filter[string]

/** The date shown by the clock of a zone, as `YYYY-MM-DD`. */
export const dateAt = (timeZone: string, at: number): string =>
  new Date(at + localClock(timeZone).offsetAt(at)).toISOString().slice(0, 10)

/** Replaces each date compared with an instant by the start of that day in the zone. */
export function zonedFilters(
  filters: Filter,
  typeOf: (name: string) => ResultColumnType | undefined,
  timeZone: string,
): Filter {
  const zoned = (value: unknown): unknown => {
    if (typeof value === 'string')
      return CalendarDay.safeParse(value).success ? startOfDay(value, timeZone) : value
    if (Array.isArray(value)) return value.map(zoned)
    if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return value
    return Object.fromEntries(Object.entries(value).map(([operator, operand]) => [operator, zoned(operand)]))
  }
  return Object.fromEntries(
    Object.entries(filters).map(([name, condition]) => [
      name,
      typeOf(name) === 'timestamp' ? (zoned(condition) as Condition) : condition,
    ]),
  )
}

const labels: Partial<Record<Grain, string>> = {
  ...{ day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter', year: 'Year' },
}

/**
 * Prepares an answer for readers who see only its rows: times of day-based grains become dates, and the zone becomes a
 * column. As UTC instants most of them would show the day before or after.
 */
export function withLocalDates(
  answer: Pick<QueryAnswer, 'columns' | 'rows' | 'dataAsOf'>,
  { grain, timeZone }: Pick<AnalyticsQuery, 'grain' | 'timeZone'>,
): Pick<QueryAnswer, 'columns' | 'rows' | 'dataAsOf'> {
  const label = grain && labels[grain]
  if (!label) return answer
  const dates: ResultColumn = { name: 'time', label, type: 'date', format: 'plain', role: 'time' }
  const zone: ResultColumn = {
    ...{ name: 'timeZone', label: 'Time zone', type: 'text', format: 'plain', role: 'dimension' },
  }
  return {
    ...answer,
    columns: answer.columns.flatMap((column) => (column.role === 'time' ? [dates, zone] : [column])),
    rows: answer.rows.map((row) => ({
      ...row,
      time: typeof row.time === 'string' ? dateAt(timeZone, Date.parse(row.time)) : null,
      timeZone,
    })),
  }
}
