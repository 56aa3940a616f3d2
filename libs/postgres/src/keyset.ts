import type { Page, TenantScope } from '@opsplane/contracts'
import type { CursorCodec } from '@opsplane/runtime'
import { and, asc, desc, eq, type GetColumnData, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Drizzle } from './database.js'
import type { AnyOf, KeysetTable, Sort } from './keyset-scan.js'
import { orderedScanSql, searchSql } from './keyset-scan.js'

/** Conditions on the rows of a table; all given ones must hold. */
export interface Selection {
  where?: (SQL | undefined)[]
  /**
   * The first one with several values is read by one ordered scan per value, which are merged: put a column first
   * whose index ends with the sort columns.
   */
  anyOf?: (AnyOf | undefined)[]
  /** A condition for which an index finds rows, but in no order, such as words in a text. */
  search?: SQL | undefined
  /** The same condition for single rows, if `search` finds rows through another table: fast for a few rows. */
  searchOfRow?: SQL | undefined
}

export interface KeysetOptions<T, Columns extends Record<string, PgColumn> = Record<never, PgColumn>>
  extends Selection {
  table: KeysetTable
  tenant: TenantScope
  /** Ties are broken by id, in the same direction. */
  sort: Sort
  limit: number
  after?: string | undefined
  /** Identifies the list and everything the position depends on, as created by the http lib. */
  binding: string
  cursors: CursorCodec
  /** Columns to present in addition to state and version. */
  columns?: Columns
  present(row: { state: Record<string, unknown>; version: number } & ColumnValues<Columns>): T
}

type ColumnValues<Columns extends Record<string, PgColumn>> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>
}

const Position = z.tuple([z.union([z.string(), z.number(), z.null()]), z.string()])

/** The value that cursors of one tenant's list are bound to. */
export const tenantBinding = ({ workspaceId, environment }: TenantScope, binding: string) =>
  `${workspaceId}|${environment}|${binding}`

/** The position encoded in a cursor. Throws `invalid_cursor`. */
export const parsePosition = (cursors: CursorCodec, cursor: string, binding: string) =>
  Position.parse(cursors.decode(cursor, binding))

/** One page of a read-model list of one workspace and environment. Throws `invalid_cursor`. */
export async function keysetPage<T, Columns extends Record<string, PgColumn> = Record<never, PgColumn>>(
  db: Drizzle,
  options: KeysetOptions<T, Columns>,
): Promise<Page<T>> {
  const { table, tenant, sort, limit, cursors } = options
  const binding = tenantBinding(tenant, options.binding)
  const direction = sort.direction === 'asc' ? asc : desc
  const order = [direction(sort.column), direction(table.id)]
  const ofTenant = [eq(table.workspaceId, tenant.workspaceId), eq(table.environment, tenant.environment)]
  const conditions = [...ofTenant, ...(options.where ?? [])]
  if (options.after !== undefined) {
    conditions.push(afterPosition(table, sort, parsePosition(cursors, options.after, binding)))
  }
  const { each, among } = ways(options.anyOf)
  const scan = { table, conditions: [...conditions, ...among], each, sort }
  const page = () => {
    if (options.search) {
      const search = { condition: options.search, ofRow: options.searchOfRow }
      return and(...ofTenant, isOneOf(table.id, searchSql(scan, search, limit + 1)))
    }
    if (each) return and(...ofTenant, isOneOf(table.id, orderedScanSql(scan, limit + 1)))
    return and(...scan.conditions)
  }
  const read = (connection: Pick<Drizzle, 'select'>) =>
    connection
      .select({
        ...options.columns,
        id: table.id,
        state: table.state,
        version: table.version,
        sortValue: sort.column,
      })
      .from(table)
      .where(page())
      .orderBy(...order)
      .limit(limit + 1)
  const rows = await (options.search ? forSearch(db, read) : read(db))

  const items = rows.slice(0, limit)
  const last = rows.length > limit ? items.at(-1) : undefined
  return {
    // The row type depends on the given columns, which the spread loses.
    items: items.map((row) => options.present(row as Parameters<typeof options.present>[0])),
    nextCursor: last ? cursors.encode([last.sortValue, last.id], binding) : null,
    limit,
  }
}

/**
 * For words that are frequent but rarely occur together, Postgres overestimates the matches and would read the
 * whole table, of all tenants; an index is always better. With the default work_mem the bitmap would contain pages
 * instead of rows.
 */
function forSearch<Rows>(
  db: Drizzle,
  read: (connection: Pick<Drizzle, 'select'>) => PromiseLike<Rows>,
): Promise<Rows> {
  return db.transaction(async (tx) => {
    await tx.execute(
      sql`select set_config('enable_seqscan', 'off', true), set_config('work_mem', '32MB', true)`,
    )
    return read(tx)
  })
}

/** The whole selection as conditions on the table's columns. */
export function selectionConditions({ where, anyOf, search }: Selection): (SQL | undefined)[] {
  return [...(where ?? []), ...(anyOf ?? []).map((filter) => filter && isAnyOf(filter)), search]
}

const isAnyOf = ({ column, values }: AnyOf): SQL => inArray(column, [...values])
const isOneOf = (id: PgColumn, ids: SQL): SQL => sql`${id} in (select id from (${ids}) page)`

/** The column to read value by value, and the others as conditions. */
function ways(anyOf: Selection['anyOf'] = []): { each: AnyOf | undefined; among: SQL[] } {
  const filters = anyOf.flatMap((one) => (one ? [{ ...one, values: [...new Set(one.values)] }] : []))
  const each = filters.find(({ values }) => values.length > 1)
  return { each, among: filters.filter((one) => one !== each).map(isAnyOf) }
}

/** A row comparison, so that Postgres walks the (sort, id) index from this position. */
function afterPosition(table: KeysetTable, sort: Sort, [value, id]: z.infer<typeof Position>): SQL {
  const operator = sort.direction === 'asc' ? sql.raw('>') : sql.raw('<')
  return sql`(${sort.column}, ${table.id}) ${operator} (${value}, ${id})`
}
