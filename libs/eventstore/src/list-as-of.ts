import { ApiError, type Instant, type Page } from '@opsplane/contracts'
import {
  type Drizzle,
  type KeysetOptions,
  keysetPage,
  positionOf,
  selectionConditions,
  tenantBinding,
} from '@opsplane/postgres'
import { and, getTableName, sql } from 'drizzle-orm'
import { z } from 'zod'
import { computedColumns, stateSql } from './row-as-of.js'
import { unseal } from './sealed.js'

export type ListOptions<T> = Omit<KeysetOptions<T>, 'columns'>

/** How many creations one page looks through; a page that found too little by then is short, and goes on. */
export const mostCreations = 5_000
/** The words of a past state are taken apart anew, which takes longer. */
export const mostSearchedCreations = 1_000

/**
 * One page of a list as it is, or as it was at an instant. As it was is sorted by creation alone: the log is
 * walked in that order.
 */
export function listPage<T>(
  db: Drizzle,
  { asOf, ...options }: ListOptions<T> & { asOf: Instant | undefined },
): Promise<Page<T>> {
  if (asOf === undefined) return keysetPage(db, options)
  if (options.sort.column.name === 'created_at') return pageAsOf(db, options, asOf)
  const message = 'With asOf, a list is sorted by createdAt or -createdAt only.'
  throw new ApiError('validation_failed', message, {
    details: [{ in: 'query', path: '/sort', code: 'not_with_as_of', message: 'must be createdAt' }],
  })
}

const Row = z.object({
  id: z.string(),
  created: z.string(),
  version: z.number().nullable(),
  state: z.record(z.string(), z.unknown()).nullable(),
  sealed: z.object({ hidden: z.record(z.string(), z.unknown()), derived: z.array(z.string()) }).nullable(),
})

/**
 * Creations of the kind in order, each with its last event up to the instant, filtered by what that left. The rows
 * go by the read model's name and have its columns, computed by the expressions the table computes them by: so
 * every condition means the same of the past as of the present.
 */
async function pageAsOf<T>(db: Drizzle, options: ListOptions<T>, asOf: Instant): Promise<Page<T>> {
  const { table, tenant, sort, limit, cursors } = options
  const most = options.search ? mostSearchedCreations : mostCreations
  const binding = tenantBinding(tenant, options.binding)
  const direction = sql.raw(sort.direction)
  const order = sql`created_at ${direction}, stream_id ${direction}`
  const start = options.after === undefined ? undefined : positionOf(cursors, options.after, binding)
  const operator = sql.raw(sort.direction === 'asc' ? '>' : '<')
  const beyond =
    start && sql`(created_at, stream_id) ${operator} (${start[0]}::text::timestamptz, ${start[1]}::text)`
  const ofTenant = sql`workspace_id = ${tenant.workspaceId} and environment = ${tenant.environment}`
  const creations = sql`
    select stream_id, created_at from events
    where ${and(ofTenant, sql`stream_type = ${getTableName(table)}`, sql`version = 1`)}
      and ${and(sql`created_at <= ${asOf}::text::timestamptz`, beyond)}
    order by ${order} limit ${most}`
  const rows = await db.execute(sql`
    with page as materialized (
      select creation.stream_id, creation.created_at, last.version, last.after, last.sealed
      from (${creations}) creation
      cross join lateral (
        select version, data->'after' as after, sealed from events
        where stream_id = creation.stream_id and ${ofTenant} and created_at <= ${asOf}::text::timestamptz
        order by version desc limit 1
      ) last
      cross join lateral (
        select folded.*, ${computedColumns(table)} from (
          select creation.stream_id as id, ${tenant.workspaceId}::text as workspace_id,
            ${tenant.environment}::text as environment, last.version as version, ${stateSql} as state offset 0
        ) folded
      ) ${table}
      where ${and(sql`json_typeof(last.after) = 'object'`, ...selectionConditions(options))}
      order by creation.created_at ${direction}, creation.stream_id ${direction} limit ${limit + 1}
    )
    (select stream_id as id, ${isoSql} as created, version, after as state, sealed from page order by ${order})
    union all
    (select stream_id, ${isoSql}, null, null, null from (${creations}) creation
      where (select count(*) from page) <= ${limit} order by ${order} offset ${most - 1} limit 1)`)
  const read = z.array(Row).parse([...rows])
  const found = read.filter(({ version }) => version !== null)
  const items = found.slice(0, limit)
  const next = found.length > limit ? items.at(-1) : read.find(({ version }) => version === null)
  return {
    items: items.map(({ state, sealed, version }) =>
      options.present({ state: unseal(state ?? {}, sealed), version: version ?? 0 }),
    ),
    nextCursor: next ? cursors.encode([next.created, next.id], binding) : null,
    limit,
  }
}

const isoSql = sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
