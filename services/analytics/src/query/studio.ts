import {
  type AnalyticsQuery,
  ApiError,
  filterMatches,
  type JsonValue,
  parseExact,
  type QueryAnswer,
  QueryResult,
  stringifyExact,
} from '@opsplane/contracts'
import type { CallOptions, ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { mostGroups } from './fact-answer.js'
import { InvalidQuery } from './invalid-query.js'
import { inOrder } from './order.js'
import { createRowFold } from './row-fold.js'
import type { RowMeasure } from './row-measure.js'
import { plainColumn, studioColumns } from './studio-columns.js'
import { checkStudioQuery, rowMeasures } from './studio-query.js'
import { previousOf, type Timeline, timelineOf } from './timeline.js'
import type { QueryCaller } from './types.js'

type Row = Record<string, unknown>

/** Rows of a saved query at most; the studio says so where it had more. */
const mostRows = 10_000

export interface StudioQueries {
  /** Answers by the rows the caller may read in the database studio, at this moment. */
  run(caller: QueryCaller, query: AnalyticsQuery, signal: AbortSignal): Promise<QueryAnswer>
}

export interface StudioOptions {
  client: Pick<ServiceClient, 'post' | 'lines'>
  database: Pick<Database, 'sql'>
  clock: Clock
}

export function createStudioQueries({ client, database, clock }: StudioOptions): StudioQueries {
  const tableRows = (query: AnalyticsQuery, options: CallOptions): AsyncIterable<Row> => {
    const asked = new URLSearchParams({ format: 'ndjson', filter: stringifyExact(query.filters) })
    const columns = [...query.dimensions, ...rowMeasures(query).flatMap(({ column }) => column ?? [])]
    if (query.timeField !== undefined) columns.push(query.timeField)
    if (columns.length > 0) asked.set('fields', [...new Set(columns)].join(','))
    return jsonLines(
      client.lines(`/tables/${encodeURIComponent(query.table ?? '')}/records/export?${asked}`, options),
    )
  }

  const savedRows = async (query: AnalyticsQuery, options: CallOptions) => {
    const path = `/queries/${encodeURIComponent(query.savedQuery ?? '')}/run`
    const body = { parameters: query.parameters, maxRows: mostRows }
    const { columns, rows, truncated } = await client.post(path, body, QueryResult, options)
    if (truncated !== null)
      throw new ApiError(
        'validation_failed',
        `The saved query has more than ${mostRows} rows, or they are too large.`,
      )
    return { columns, rows: rows.filter((row) => filterMatches(query.filters, row)) }
  }

  const whole = async (query: AnalyticsQuery, options: CallOptions, now: string): Promise<QueryAnswer> => {
    const { columns, rows } = await savedRows(query, options)
    return {
      columns: columns.map(({ name, type }) => plainColumn(name, columnType(type), 'dimension')),
      rows: rows.slice(0, query.limit) as Record<string, JsonValue>[],
      truncated: rows.length > query.limit,
      ...{ totals: null, range: null, dataAsOf: now, dataVersion: now },
    }
  }

  const added = async (query: AnalyticsQuery, options: CallOptions, now: string): Promise<QueryAnswer> => {
    const measures = rowMeasures(query)
    const isTimed = query.grain !== undefined || query.range !== undefined || query.comparePrevious
    const time = isTimed ? await timesOf(database, query, now) : undefined
    const [current, before] = [
      answering(query, measures, time?.current),
      answering(query, measures, time?.previous),
    ]
    const rows =
      query.table === undefined ? (await savedRows(query, options)).rows : tableRows(query, options)
    for await (const row of rows) {
      current.add(row)
      if (time?.previous) before.add(row)
    }
    const columns = studioColumns(query, measures)
    const { rows: all, totals } = current.result()
    const comparison = time?.previous && { range: rangeOf(time.previous), ...before.result() }
    return {
      columns,
      rows: inOrder(all, columns, query.sort).slice(0, query.limit),
      truncated: all.length > query.limit,
      totals,
      range: time && query.range ? rangeOf(time.current) : null,
      ...(comparison && {
        comparison: { ...comparison, rows: inOrder(comparison.rows, columns, query.sort) },
      }),
      ...{ dataAsOf: now, dataVersion: now },
    }
  }

  return {
    async run(caller, query, signal) {
      checkStudioQuery(query)
      const options = { issuer: await caller.studio(), signal }
      const isWhole = query.measures.length === 0 && query.dimensions.length === 0
      return (isWhole ? whole : added)(query, options, clock.now())
    },
  }
}

const rangeOf = ({ from, to }: Timeline) => ({ from, to })

async function timesOf({ sql }: Pick<Database, 'sql'>, query: AnalyticsQuery, now: string) {
  const asked = { range: query.range, grain: query.grain, timeZone: query.timeZone, now }
  const current = await timelineOf(sql, asked)
  return { current, previous: query.comparePrevious ? await previousOf(sql, asked, current) : undefined }
}

/** Adds up the rows of one period, by group and in all. */
function answering(query: AnalyticsQuery, measures: readonly RowMeasure[], timeline: Timeline | undefined) {
  const { dimensions, grain, timeField = '' } = query
  const groups = createRowFold(measures, mostGroups)
  const totals = createRowFold(measures, 1)
  return {
    add(row: Row) {
      const bound = timeline && boundOf(timeline, row[timeField], timeField)
      if (bound === null) return
      const shown = Object.fromEntries(dimensions.map((name) => [name, (row[name] ?? null) as JsonValue]))
      groups.add(grain && bound !== undefined ? { time: bound, ...shown } : shown, row)
      totals.add({}, row)
    },
    result: () => ({ rows: groups.rows(), totals: totals.rows()[0] ?? null }),
  }
}

/** The span an instant lies in; null where that is outside of the range. Throws InvalidQuery for what is no instant. */
function boundOf({ from, to, bounds }: Timeline, value: unknown, timeField: string): string | null {
  if (value === null) return null
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw new InvalidQuery('/timeField', `is ${timeField}, which holds no instants`)
  if (ms < Date.parse(from) || ms >= Date.parse(to)) return null
  let [low, high] = [0, bounds.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (Date.parse(bounds[middle] ?? to) <= ms) low = middle
    else high = middle - 1
  }
  return bounds[low] ?? null
}

async function* jsonLines(lines: AsyncIterable<string>): AsyncIterable<Row> {
  for await (const line of lines) {
    const row: unknown = parseExact(line)
    if (row !== null && typeof row === 'object') yield row as Row
  }
}

/** Of a type of Postgres. */
function columnType(type: string): 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'json' {
  if (/^int|^bigint|^smallint/.test(type)) return 'integer'
  if (/^numeric|^float|^double|^real|^decimal/.test(type)) return 'number'
  if (/^bool/.test(type)) return 'boolean'
  if (/^timestamp/.test(type)) return 'timestamp'
  if (type === 'date') return 'date'
  return /^json/.test(type) ? 'json' : 'text'
}
