import {
  ApiError,
  type FactRowsQuery,
  type QueryAnswer,
  type ResultColumn,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { columnOf, type Dataset, tableOf } from '../dataset/dataset.js'
import { conditionsSql } from './condition.js'
import { Parameters } from './parameters.js'
import { timelineOf } from './timeline.js'
import type { OpenedRows, RowPage } from './types.js'

const pageRows = 5_000

/** The rows of an answer, which is held as a whole: a cursor is how many are behind. */
export function rowsOfAnswer(
  { columns, rows, dataAsOf }: QueryAnswer,
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

/** Facts by their time and id, a page at a time: each page begins right behind the last row of the one before. */
export async function* factRows(
  { sql }: Pick<Database, 'sql'>,
  { tenant, dataset, columns, filters, range, timeZone, now }: FactRows,
  { after, signal }: { after?: string | undefined; signal: AbortSignal },
): AsyncIterable<RowPage> {
  const span = range && (await timelineOf(sql, { range, timeZone, now }))
  for (let place = after === undefined ? undefined : placeOf(after); ; ) {
    signal.throwIfAborted()
    const parameters = new Parameters()
    const conditions = [
      `workspace_id = ${parameters.add(tenant.workspaceId, 'text')}`,
      `environment = ${parameters.add(tenant.environment, 'text')}`,
      ...(span
        ? [
            `created_at >= ${parameters.add(span.from, 'timestamptz')}`,
            `created_at < ${parameters.add(span.to, 'timestamptz')}`,
          ]
        : []),
      ...(place
        ? [
            `(created_at, id) > (${parameters.add(place.at, 'timestamptz')}, ${parameters.add(place.id, 'text')})`,
          ]
        : []),
      ...conditionsSql(dataset, filters, parameters),
    ]
    const found = await sql
      .unsafe<unknown[][]>(
        `select ${columns.map(valueSql).join(', ')}, ${iso('created_at')}, id from ${tableOf(dataset)}
         where ${conditions.join(' and ')} order by created_at, id limit ${pageRows}`,
        parameters.values,
        { prepare: true },
      )
      .values()
    const last = found.at(-1)
    if (!last) return
    const [at, id] = last.slice(-2).map(String)
    if (at === undefined || id === undefined) return
    place = { at, id }
    const rows = found.map((row) => row.slice(0, -2).map((value, index) => typed(value, columns[index])))
    yield { rows, cursor: `${at}/${id}` }
    if (found.length < pageRows) return
  }
}

const iso = (sql: string) => `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const valueSql = ({ name, type }: ResultColumn) =>
  type === 'timestamp' ? iso(columnOf(name)) : columnOf(name)

const typed = (value: unknown, column: ResultColumn | undefined) =>
  column?.type === 'integer' && value !== null ? Number(value) : value

function placeOf(cursor: string): { at: string; id: string } {
  const [at, id] = cursor.split('/')
  if (at === undefined || id === undefined || Number.isNaN(Date.parse(at))) throw invalidCursor()
  return { at, id }
}

const invalidCursor = () => new ApiError('invalid_cursor', 'The cursor is not one of these rows.')
