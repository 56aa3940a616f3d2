import type { Instant, Page } from '@opsplane/contracts'
import {
  type Drizzle,
  type KeysetTable,
  parsePosition,
  selectionConditions,
  tenantBinding,
} from '@opsplane/postgres'
import { and, getTableName, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ListOptions } from './list-as-of.js'
import {
  existsCondition,
  generatedExpression,
  type Past,
  type PastOf,
  PastState,
  pastEvents,
  pastRow,
  pastRows,
} from './past.js'

/**
 * The rows with these ids that existed at the instant, in their state at the time, in no particular order. `where`
 * refers to the table's columns.
 */
export async function readRowsAt(
  db: Drizzle,
  { ids, where = [], ...of }: PastOf & { ids: readonly string[]; where?: (SQL | undefined)[] },
) {
  const rows = await db.execute(sql`
    select last.after as state, last.version, last.sealed
    from json_array_elements_text(${JSON.stringify(ids)}::text::json) asked(id) ${pastRows(of, sql`asked.id`)}
    where ${and(existsCondition(of), ...where)}`)
  return z
    .array(PastState)
    .parse([...rows])
    .map(pastRow)
}

/**
 * One page of the rows that the events of one aggregate had written by an instant, one row for each value of the
 * sort column. That column must be computed from fields that events carry unsealed.
 */
export async function readStreamPageAt<T>(
  db: Drizzle,
  { stream, ...options }: ListOptions<T> & { stream: string; past: Past; asOf: Instant },
): Promise<Page<T>> {
  const { sort, limit, cursors } = options
  const binding = tenantBinding(options.tenant, options.binding)
  const start = options.after === undefined ? undefined : parsePosition(cursors, options.after, binding)
  const operator = sql.raw(sort.direction === 'asc' ? '>' : '<')
  const key = generatedExpression(sort.column)
  if (!key) throw new Error(`${sort.column.name} is not computed from the state`)
  // Distinct by unsealed fields; only the rows of the page are unsealed.
  const rows = await db.execute(sql`
    select last.after as state, last.version, last.sealed, ${sort.column} as key
    from (
      select distinct on (key) key, stream_id, version from (
        select stream_id, version, ${key} as key from (
          select stream_id, version, data->'after' as state from events
          where ${and(sql`stream_id = ${stream}`, pastEvents(options))}
        ) carried
      ) keyed order by key, version desc
    ) source ${pastRows(options, sql`source.stream_id`, sql`source.version`)}
    where ${and(existsCondition(options), start && sql`source.key ${operator} ${start[0]}`, ...selectionConditions(options))}
    order by source.key ${sql.raw(sort.direction)} limit ${limit + 1}`)
  const read = z.array(PastState.extend({ key: z.union([z.string(), z.number()]) })).parse([...rows])
  const items = read.slice(0, limit)
  const last = read.length > limit ? items.at(-1) : undefined
  return {
    items: items.map((row) => options.present(pastRow(row))),
    nextCursor: last ? cursors.encode([last.key, stream], binding) : null,
    limit,
  }
}

/** The unsealed state that the aggregate of a table's row had at the instant, as a value to select with the row. */
export const stateAtSql = (table: KeysetTable, asOf: Instant): SQL => sql`(
  select data->'after' from events
  where stream_id = ${table.id} and stream_type = ${getTableName(table)}
    and workspace_id = ${table.workspaceId} and environment = ${table.environment}
    and created_at <= ${asOf}::text::timestamptz
  order by version desc limit 1)`
