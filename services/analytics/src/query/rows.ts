import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ApiError,
  type FactRowsQuery,
  type QueryAnswer,
  type ResultColumn,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import { columnName, type Dataset, factTableName } from '../dataset/dataset.js'
import { toIsoInstant } from '../format/instant.js'
import { conditionsSql } from './condition.js'
import { Parameters } from './parameters.js'
import { buildTimeline } from './timeline.js'
import type { CompositePage, OpenedRows, RowPage } from './types.js'

const pageRows = 2_000

/** Pages over an answer in memory; the cursor is the number of rows already returned. */
export function toRowPages(
  { columns, rows, dataAsOf }: Pick<QueryAnswer, 'columns' | 'rows' | 'dataAsOf'>,
  after: string | undefined,
): OpenedRows {
  const done = after === undefined ? 0 : Number(after)
  if (!Number.isInteger(done) || done < 0) throw invalidCursor()
  async function* pages(): AsyncIterable<RowPage> {
    for (let first = done; first < rows.length; first += pageRows) {
      const page = rows.slice(first, first + pageRows)
      const values = page.map((row) => columns.map(({ name }) => row[name] ?? null))
      yield { rows: values, cursor: String(first + page.length) }
    }
  }
  return { columns, dataAsOf, pages: pages() }
}

interface FactRows extends Omit<FactRowsQuery, 'dataset' | 'columns'> {
  tenant: TenantScope
  dataset: Dataset
  columns: ResultColumn[]
  now: string
}

/**
 * Facts ordered by time and id, page by page; each page starts after the last row of the previous one. Postgres reads
 * the next page while the current one is processed.
 */
export async function* factRows(
  { sql }: Pick<Database, 'sql'>,
  request: FactRows,
  options: PageOptions,
): AsyncIterable<RowPage> {
  const { dataset, columns } = request
  // Instants are read as text: the client would convert them to `Date`, whose text lacks the milliseconds.
  const names = [
    ...columns.map(({ name, type }) =>
      type === 'timestamp' ? `${columnName(name)}::text` : columnName(name),
    ),
    ...positionColumns.map((name) => `${name}::text`),
  ].join(', ')
  const converts = columns.map(({ type }) => converters[type])
  const pages = readPages<unknown[][]>(sql, request, options, {
    async read(rest, values) {
      const text = `select ${names} from ${factTableName(dataset)} f ${rest}`
      const rows = await sql.unsafe<unknown[][]>(text, values, { prepare: true }).values()
      return { rows, count: rows.length }
    },
    placeOf(rows) {
      const last = rows.at(-1)
      return { at: toIsoInstant(String(last?.at(-2))), id: String(last?.at(-1)) }
    },
  })
  for await (const { rows, cursor } of pages) {
    for (const row of rows) convert(row, converts)
    yield { rows, cursor }
  }
}

/** The same, with all rows of a page as one text produced by Postgres. */
export async function* factComposites(
  { sql }: Pick<Database, 'sql'>,
  request: FactRows,
  options: PageOptions,
): AsyncIterable<CompositePage> {
  const { dataset, columns } = request
  const names = columns.map(({ name }) => columnName(name)).join(', ')
  const [at, id] = positionColumns.map((name) => `(array_agg(${name}))[count(*)]::text`)
  const pages = readPages<{ composites: Uint8Array; place: RowPosition }>(sql, request, options, {
    async read(rest, values) {
      const text = `select count(*), string_agg(composite, ''), ${at}, ${id} from (
        select row(${names})::text as composite, ${positionColumns} from ${factTableName(dataset)} f ${rest}) rows`
      const [[count, composites, ...place] = []] = await sql.unsafe(text, values, { prepare: true }).raw()
      const [lastAt, lastId] = place.map(String)
      const last = { at: lastAt ?? '', id: lastId ?? '' }
      return { rows: { composites: composites ?? nothing, place: last }, count: Number(count) }
    },
    placeOf: ({ place: { at, id } }) => ({ at: toIsoInstant(at), id }),
  })
  for await (const { rows, cursor } of pages) {
    await afterSend()
    yield { composites: rows.composites, cursor }
  }
}

/**
 * The client sends the statement of the next page one turn after the call, but the consumer of a page keeps the process
 * busy. Not used for pages of values: two of them take more memory than the time saved is worth.
 */
async function afterSend(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

const nothing = Buffer.alloc(0)

interface PageOptions {
  after?: string | undefined
  signal: AbortSignal
}

/** Describes how to read a page and where the next one begins. */
interface PageReading<Rows> {
  /** `rest`: the SQL after the table name. */
  read(rest: string, values: (string | null)[]): Promise<{ rows: Rows; count: number }>
  placeOf(rows: Rows): RowPosition
}

/** Columns that determine a row's position. */
const positionColumns = ['created_at', 'id']

async function* readPages<Rows>(
  sql: StatementRunner,
  { tenant, dataset, filters, range, timeZone, now }: FactRows,
  { after, signal }: PageOptions,
  { read, placeOf }: PageReading<Rows>,
): AsyncIterable<{ rows: Rows; cursor: string }> {
  const span = range && (await buildTimeline(sql, { range, timeZone, now }))
  const readFrom = (place: RowPosition | undefined) => {
    signal.throwIfAborted()
    const parameters = new Parameters()
    const conditions = [
      `workspace_id = ${parameters.add(tenant.workspaceId, 'text')}`,
      `environment = ${parameters.add(tenant.environment, 'text')}`,
      ...(span
        ? [
            `f.created_at >= ${parameters.add(span.from, 'timestamptz')}`,
            `f.created_at < ${parameters.add(span.to, 'timestamptz')}`,
          ]
        : []),
      ...(place
        ? [
            `(f.created_at, f.id) > (${parameters.add(place.at, 'timestamptz')}, ${parameters.add(place.id, 'text')})`,
          ]
        : []),
      ...conditionsSql(dataset, filters, parameters),
    ]
    return read(
      `where ${conditions.join(' and ')} order by f.created_at, f.id limit ${pageRows}`,
      parameters.values,
    )
  }
  for (let next = readFrom(after === undefined ? undefined : parseCursor(after)); ; ) {
    const { rows, count } = await next
    if (count === 0) return
    const place = placeOf(rows)
    const isLast = count < pageRows
    if (!isLast) {
      next = readFrom(place)
      // The rejection is reported when the next page awaits it.
      next.catch(() => {})
    }
    yield { rows, cursor: `${place.at}/${place.id}` }
    if (isLast) return
  }
}

type Converter = ((value: string) => unknown) | undefined

/** Converts in place to avoid copying millions of rows. Values after the columns were read for the cursor. */
function convert(row: unknown[], converts: readonly Converter[]): void {
  row.length = converts.length
  for (let at = 0; at < converts.length; at++) {
    const value = row[at]
    if (value !== null && converts[at]) row[at] = converts[at]?.(String(value))
  }
}

const converters: Partial<Record<ResultColumn['type'], Converter>> = {
  integer: Number,
  timestamp: toIsoInstant,
}

interface RowPosition {
  at: string
  id: string
}

function parseCursor(cursor: string): RowPosition {
  const [at, id] = cursor.split('/')
  if (at === undefined || id === undefined || Number.isNaN(Date.parse(at))) throw invalidCursor()
  return { at, id }
}

const invalidCursor = () => new ApiError('invalid_cursor', 'The cursor is not one of these rows.')
