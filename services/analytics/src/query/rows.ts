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

const pageRows = 2_000

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

/**
 * Facts by their time and id, a page at a time: each begins right behind the last row of the one before. Postgres reads
 * the next one while a page is used.
 */
export async function* factRows(
  { sql }: Pick<Database, 'sql'>,
  { tenant, dataset, columns, filters, range, timeZone, now }: FactRows,
  { after, signal }: { after?: string | undefined; signal: AbortSignal },
): AsyncIterable<RowPage> {
  const span = range && (await timelineOf(sql, { range, timeZone, now }))
  const read = async (place: Place | undefined): Promise<unknown[][]> => {
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
    return sql
      .unsafe<unknown[][]>(
        `select ${columns.map(({ name }) => columnOf(name)).join(', ')}, created_at, id from ${tableOf(dataset)}
         where ${conditions.join(' and ')} order by created_at, id limit ${pageRows}`,
        parameters.values,
        { prepare: true },
      )
      .values()
  }
  const converts = columns.map(({ type }) => converters[type])
  for (let next = read(after === undefined ? undefined : placeOf(after)); ; ) {
    const rows = await next
    const last = rows.at(-1)
    if (!last) return
    const place = { at: isoOf(String(last.at(-2))), id: String(last.at(-1)) }
    const isLast = rows.length < pageRows
    if (!isLast) {
      next = read(place)
      // Whoever takes the next page hears of it.
      next.catch(() => {})
    }
    for (const row of rows) convert(row, converts)
    yield { rows, cursor: `${place.at}/${place.id}` }
    if (isLast) return
  }
}

type Converter = ((value: string) => unknown) | undefined

/** In place, as a million rows are many: what is behind the columns was read for the cursor. */
function convert(row: unknown[], converts: readonly Converter[]): void {
  row.length = converts.length
  for (let at = 0; at < converts.length; at++) {
    const value = row[at]
    if (value !== null && converts[at]) row[at] = converts[at]?.(String(value))
  }
}

const plainInstant = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,3})?\+00$/

/**
 * An instant as Postgres writes it, as ISO 8601 with milliseconds. `to_char` would take as long for one instant as all the
 * rest of a row takes.
 */
export function isoOf(text: string): string {
  const found = plainInstant.exec(text)
  if (!found) return new Date(text).toISOString()
  return `${found[1]}T${found[2]}${(found[3] ?? '.').padEnd(4, '0')}Z`
}

const converters: Partial<Record<ResultColumn['type'], Converter>> = { integer: Number, timestamp: isoOf }

interface Place {
  at: string
  id: string
}

function placeOf(cursor: string): Place {
  const [at, id] = cursor.split('/')
  if (at === undefined || id === undefined || Number.isNaN(Date.parse(at))) throw invalidCursor()
  return { at, id }
}

const invalidCursor = () => new ApiError('invalid_cursor', 'The cursor is not one of these rows.')
