import type { Instant, Page } from '@opsplane/contracts'
import type { RequestMeta, Sort } from '@opsplane/http'
import type { Database, KeysetTable } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type ListOptions, listPage } from './list-as-of.js'

/** The input of a list's handler. */
interface ListInput {
  query: { limit: number; after?: string | undefined; sort: Sort; asOf?: Instant | undefined }
  binding: string
  meta: RequestMeta
}

/** A column for each sort field; the table's columns of the same names if not given. */
type SortColumns<Field extends string> =
  | { table: KeysetTable & (string extends Field ? unknown : Record<Field, PgColumn>); columns?: undefined }
  | { table: KeysetTable; columns: Record<Field, PgColumn> }

type Narrowing = Partial<Omit<ListOptions<unknown>, 'table' | 'present' | 'cursors' | 'limit' | 'after'>>

type PageReaderOptions<Input extends ListInput, T> = SortColumns<Input['query']['sort']['field']> &
  Pick<ListOptions<T>, 'present'> & {
    /** Additional conditions on the rows, or deviations of the page from the request. */
    select?(input: Input): Narrowing | Promise<Narrowing>
  }

/**
 * Handler of a list that is backed by a table: the tenant's rows in the requested order, and as of the requested
 * instant.
 */
export function pageReader<Input extends ListInput, T>(
  { database, cursors }: { database: Pick<Database, 'db'>; cursors: CursorCodec },
  { table, columns, present, select }: PageReaderOptions<Input, T>,
): (input: Input) => Promise<Page<T>> {
  const columnSource: object = columns ?? table
  const sortColumns = columnSource as Partial<Record<string, PgColumn>>
  return async (input) => {
    const { query, binding, meta } = input
    const { limit, after, asOf, sort } = query
    const narrowed = (await select?.(input)) ?? {}
    // For lists without sort fields, `select` determines the order.
    const column = sort === undefined ? table.id : sortColumns[sort.field]
    if (column === undefined) throw new Error(`there is no column to sort by ${sort.field}`)
    return listPage(database.db, {
      ...{ table, tenant: meta.tenant, limit, after, binding, asOf, cursors, present },
      ...{ sort: { column, direction: sort?.direction ?? 'asc' }, ...narrowed },
    })
  }
}
