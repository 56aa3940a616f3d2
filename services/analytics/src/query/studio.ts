import {
  type AnalyticsQuery,
  type JsonValue,
  parseExact,
  type QueryAnswer,
  QueryResult,
  type ResultColumnType,
  stringifyExact,
  Table,
} from '@opsplane/contracts'
import type { CallOptions, ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { type Clock, localClock } from '@opsplane/runtime'
import { maxGroups } from './fact-answer.js'
import { InvalidQuery, refuseQuery } from './invalid-query.js'
import { zonedFilters } from './local-days.js'
import { type ColumnTypes, recordColumns, toColumnType } from './record-columns.js'
import { rowMatches } from './row-filter.js'
import { createRowFold } from './row-fold.js'
import type { RowMeasure } from './row-measure.js'
import { sortRows } from './sort-rows.js'
import { plainColumn, studioColumns } from './studio-columns.js'
import { checkColumns, checkStudioQuery, rowMeasures } from './studio-query.js'
import { buildPreviousTimeline, buildTimeline, type Timeline } from './timeline.js'
import type { QueryCaller } from './types.js'

type Row = Record<string, unknown>

/** Maximum number of rows of a saved query; the studio reports whether there were more. */
const maxRows = 10_000

export interface StudioQueries {
  /** Answers from the rows the caller may currently read in the database studio. */
  run(caller: QueryCaller, query: AnalyticsQuery, signal: AbortSignal): Promise<QueryAnswer>
}

export interface StudioOptions {
  client: Pick<ServiceClient, 'get' | 'post' | 'lines'>
  database: Pick<Database, 'sql'>
  clock: Clock
}

/** The rows to read, with the types of their columns. */
interface Source {
  types: ColumnTypes
  /** Returns the requested columns of the rows that match the filters. */
  rows(query: AnalyticsQuery): AsyncIterable<Row> | Row[]
}

export function createStudioQueries({ client, database, clock }: StudioOptions): StudioQueries {
  const openTable = async (slug: string, options: CallOptions): Promise<Source> => {
    const path = `/tables/${encodeURIComponent(slug)}`
    const types = recordColumns(await client.get(path, Table, options))
    const rows = (query: AnalyticsQuery) => {
      const exportQuery = new URLSearchParams({ format: 'ndjson', filter: stringifyExact(query.filters) })
      const columns = [...query.dimensions, ...rowMeasures(query).flatMap(({ column }) => column ?? [])]
      if (query.timeField !== undefined) columns.push(query.timeField)
      exportQuery.set('fields', [...new Set(columns.length > 0 ? columns : ['id'])].join(','))
      return jsonLines(client.lines(`${path}/records/export?${exportQuery}`, options))
    }
    return { types, rows }
  }

  const openSaved = async (id: string, query: AnalyticsQuery, options: CallOptions): Promise<Source> => {
    const body = { parameters: query.parameters, maxRows: maxRows }
    const path = `/queries/${encodeURIComponent(id)}/run`
    const { columns, rows, truncated } = await client.post(path, body, QueryResult, options)
    if (truncated !== null)
      throw new InvalidQuery('/savedQuery', `has more than ${maxRows} rows, or they are too large`)
    const types = new Map(columns.map(({ name, type }) => [name, toColumnType(type)]))
    return { types, rows: ({ filters }) => rows.filter((row) => rowMatches(filters, types, row)) }
  }

  const whole = async ({ types, rows }: Source, query: AnalyticsQuery, now: string): Promise<QueryAnswer> => {
    const all: Row[] = []
    for await (const row of rows(query)) all.push(row)
    return {
      columns: [...types].map(([name, type]) => plainColumn(name, type, 'dimension')),
      rows: all.slice(0, query.limit) as Record<string, JsonValue>[],
      truncated: all.length > query.limit,
      ...{ totals: null, range: null, dataAsOf: now, dataVersion: now },
    }
  }

  const added = async ({ types, rows }: Source, query: AnalyticsQuery, now: string): Promise<QueryAnswer> => {
    const measures = rowMeasures(query)
    const isTimed = query.grain !== undefined || query.range !== undefined || query.comparePrevious
    const time = isTimed ? await readTimelines(database, query, now) : undefined
    const [current, before] = [time?.current, time?.previous].map((timeline) =>
      createAnswer(query, { measures, types, timeline }),
    )
    if (!current || !before) throw new Error('nothing is answering')
    for await (const row of rows(query)) {
      current.add(row)
      if (time?.previous) before.add(row)
    }
    const columns = studioColumns(query, measures, types)
    const { rows: all, totals } = current.result()
    const comparison = time?.previous && { range: toRange(time.previous), ...before.result() }
    return {
      columns,
      rows: sortRows(all, columns, query.sort).slice(0, query.limit),
      truncated: all.length > query.limit,
      totals,
      range: time && query.range ? toRange(time.current) : null,
      ...(comparison && {
        comparison: { ...comparison, rows: sortRows(comparison.rows, columns, query.sort) },
      }),
      ...{ dataAsOf: now, dataVersion: now },
    }
  }

  const answer = async (requestedQuery: AnalyticsQuery, options: CallOptions): Promise<QueryAnswer> => {
    const source =
      requestedQuery.table === undefined
        ? await openSaved(requestedQuery.savedQuery ?? '', requestedQuery, options)
        : await openTable(requestedQuery.table, options)
    const { types } = source
    const query = {
      ...requestedQuery,
      filters: zonedFilters(requestedQuery.filters, (name) => types.get(name), requestedQuery.timeZone),
    }
    checkColumns(query, types)
    const isWhole = query.measures.length === 0 && query.dimensions.length === 0
    return (isWhole ? whole : added)(source, query, clock.now())
  }

  return {
    async run(caller, query, signal) {
      checkStudioQuery(query)
      return answer(query, { issuer: await caller.studio(), signal }).catch(
        refuseQuery(queryAddresses(query)),
      )
    },
  }
}

/**
 * Maps the fields of the request to the studio to those of the query. Errors in other fields concern the table or saved
 * query as a whole.
 */
const queryAddresses = ({ table, dimensions }: Pick<AnalyticsQuery, 'table' | 'dimensions'>) => ({
  'query /filter': 'body /filters',
  'body /parameters': 'body /parameters',
  ...(dimensions.length > 0 && { 'query /fields': 'body /dimensions' }),
  '': table === undefined ? 'body /savedQuery' : 'body /table',
})

const toRange = ({ from, to }: Timeline) => ({ from, to })

async function readTimelines({ sql }: Pick<Database, 'sql'>, query: AnalyticsQuery, now: string) {
  const timeRequest = { range: query.range, grain: query.grain, timeZone: query.timeZone, now }
  const current = await buildTimeline(sql, timeRequest)
  return {
    current,
    previous: query.comparePrevious ? await buildPreviousTimeline(sql, timeRequest, current) : undefined,
  }
}

interface AnswerOptions {
  measures: readonly RowMeasure[]
  types: ColumnTypes
  timeline: Timeline | undefined
}

/** Aggregates the rows of one period, by group and in total. */
function createAnswer(
  { dimensions, grain, timeField = '', timeZone }: AnalyticsQuery,
  { measures, types, timeline }: AnswerOptions,
) {
  const isDecimal = (name: string) => types.get(name) === 'decimal'
  const groups = createRowFold(measures, { maxGroups: maxGroups, isDecimal })
  const totals = createRowFold(measures, { maxGroups: 1, isDecimal })
  const instantOf = instantReader(timeField, types.get(timeField), timeZone)
  return {
    add(row: Row) {
      const bound = timeline && findBound(timeline, instantOf(row[timeField]))
      if (bound === null) return
      const shown = Object.fromEntries(dimensions.map((name) => [name, (row[name] ?? null) as JsonValue]))
      groups.add(grain && bound !== undefined ? { time: bound, ...shown } : shown, row)
      totals.add({}, row)
    },
    result: () => ({ rows: groups.rows(), totals: totals.rows()[0] ?? null }),
  }
}

/**
 * Reads the column that places rows in time. Dates and local timestamps are interpreted in the zone. Throws
 * `InvalidQuery`.
 */
function instantReader(timeField: string, type: ResultColumnType | undefined, timeZone: string) {
  const clock = type === 'date' || type === 'local_timestamp' ? localClock(timeZone) : undefined
  return (value: unknown): number | null => {
    if (value === null) return null
    const text = typeof value === 'string' ? value.replace(' ', 'T') : ''
    const ms = Date.parse(clock && type === 'local_timestamp' && !text.endsWith('Z') ? `${text}Z` : text)
    if (Number.isNaN(ms)) throw new InvalidQuery('/timeField', `is ${timeField}, which has no instants`)
    return clock ? clock.instantOf(ms) : ms
  }
}

/** The bound of the interval that contains an instant; `null` if it is outside the range. */
function findBound({ from, to, bounds }: Timeline, ms: number | null): string | null {
  if (ms === null) return null
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
    const row = parseExact(line)
    if (row !== null && typeof row === 'object') yield row as Row
  }
}
