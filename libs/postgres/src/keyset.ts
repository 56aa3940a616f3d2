import type { Page, TenantScope } from '@opsplane/contracts'
import type { CursorCodec } from '@opsplane/runtime'
import { and, asc, desc, eq, type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Drizzle } from './database.js'

export interface KeysetTable extends PgTable {
  id: PgColumn
  workspaceId: PgColumn
  environment: PgColumn
  version: PgColumn
  state: PgColumn
}

export interface KeysetOptions<T, Columns extends Record<string, PgColumn> = Record<never, PgColumn>> {
  table: KeysetTable
  tenant: TenantScope
  where?: (SQL | undefined)[]
  /** The id breaks ties, in the same direction. */
  sort: { column: PgColumn; direction: 'asc' | 'desc' }
  limit: number
  after?: string | undefined
  /** Names the list and everything the position depends on, as the http lib makes it. */
  binding: string
  cursors: CursorCodec
  /** Columns to present beside state and version. */
  columns?: Columns
  present(row: { state: Record<string, unknown>; version: number } & ColumnValues<Columns>): T
}

type ColumnValues<Columns extends Record<string, PgColumn>> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>
}

const Position = z.tuple([z.union([z.string(), z.number(), z.null()]), z.string()])

/** One page of a read-model list of one workspace and environment. Throws `invalid_cursor`. */
export async function keysetPage<T, Columns extends Record<string, PgColumn> = Record<never, PgColumn>>(
  db: Drizzle,
  options: KeysetOptions<T, Columns>,
): Promise<Page<T>> {
  const { table, tenant, sort, limit, cursors } = options
  const binding = `${tenant.workspaceId}|${tenant.environment}|${options.binding}`
  const order = sort.direction === 'asc' ? asc : desc
  const rows = await db
    .select({
      ...options.columns,
      id: table.id,
      state: table.state,
      version: table.version,
      sortValue: sort.column,
    })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, tenant.workspaceId),
        eq(table.environment, tenant.environment),
        ...(options.where ?? []),
        options.after === undefined ? undefined : beyond(table, sort, cursors.decode(options.after, binding)),
      ),
    )
    .orderBy(order(sort.column), order(table.id))
    .limit(limit + 1)

  const items = rows.slice(0, limit)
  const last = rows.length > limit ? items.at(-1) : undefined
  return {
    // What is selected is typed by the columns given, which the spread does not keep.
    items: items.map((row) => options.present(row as Parameters<typeof options.present>[0])),
    nextCursor: last ? cursors.encode([last.sortValue, last.id], binding) : null,
    limit,
  }
}

/** A row comparison, so that Postgres walks the (sort, id) index from the position on. */
function beyond(table: KeysetTable, sort: KeysetOptions<unknown>['sort'], position: unknown[]): SQL {
  const [value, id] = Position.parse(position)
  const operator = sort.direction === 'asc' ? sql.raw('>') : sql.raw('<')
  return sql`(${sort.column}, ${table.id}) ${operator} (${value}, ${id})`
}
