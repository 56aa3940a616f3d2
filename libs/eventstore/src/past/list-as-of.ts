import { ApiError, type Instant, type Page } from '@opsplane/contracts'
import {
  type Drizzle,
  type KeysetOptions,
  keysetPage,
  parsePosition,
  selectionConditions,
  tenantBinding,
} from '@opsplane/postgres'
import { and, sql } from 'drizzle-orm'
import { z } from 'zod'
import { existsCondition, type Past, PastState, pastRow, pastRows, pastStreamType } from './past.js'

export interface ListOptions<T> extends Omit<KeysetOptions<T>, 'columns'> {
  /** For a table whose rows come from events of other aggregates. The row ids are those of the aggregates. */
  past?: Past | undefined
  /** Whether conditions use only fields that events carry unsealed: for records whose sealed part is large. */
  onlyExposed?: boolean
}

/**
 * How many creations one page examines. A page that has found too little by then is short, with a cursor for the
 * rest.
 */
const maxCreations = 5_000
/** Lower limit for searches: the text of past states is tokenized for each search, which takes longer. */
export const maxSearchedCreations = 1_000

/**
 * One page of a list in its current state, or in the state at `asOf`. With `asOf` it can be sorted by creation
 * only, because the log is walked in that order.
 */
export function listPage<T>(
  db: Drizzle,
  { asOf, ...options }: ListOptions<T> & { asOf: Instant | undefined },
): Promise<Page<T>> {
  if (asOf === undefined) return keysetPage(db, options)
  if (options.sort.column.name === 'created_at') return pageAsOf(db, { ...options, asOf })
  const message = 'With asOf, a list is sorted by createdAt or -createdAt only.'
  throw new ApiError('validation_failed', message, {
    details: [{ in: 'query', path: '/sort', code: 'not_with_as_of', message: 'must be createdAt' }],
  })
}

const Row = PastState.extend({
  id: z.string(),
  created: z.string(),
  version: PastState.shape.version.nullable(),
  state: PastState.shape.state.nullable(),
})

/**
 * Creations of the type in order, each with its last event up to the instant, filtered by the state after that
 * event.
 */
async function pageAsOf<T>(db: Drizzle, options: ListOptions<T> & { asOf: Instant }): Promise<Page<T>> {
  const { tenant, sort, limit, cursors, asOf } = options
  const maxRows = options.search ? maxSearchedCreations : maxCreations
  const binding = tenantBinding(tenant, options.binding)
  const direction = sql.raw(sort.direction)
  const order = sql`created_at ${direction}, stream_id ${direction}`
  const start = options.after === undefined ? undefined : parsePosition(cursors, options.after, binding)
  const operator = sql.raw(sort.direction === 'asc' ? '>' : '<')
  const afterStart =
    start && sql`(created_at, stream_id) ${operator} (${start[0]}::text::timestamptz, ${start[1]}::text)`
  const ofTenant = sql`workspace_id = ${tenant.workspaceId} and environment = ${tenant.environment}`
  const creations = sql`
    select stream_id, created_at from events
    where ${and(ofTenant, sql`stream_type = ${pastStreamType(options)}`, sql`version = 1`)}
      and ${and(sql`created_at <= ${asOf}::text::timestamptz`, afterStart)}
    order by ${order} limit ${maxRows}`
  const rows = await db.execute(sql`
    with page as materialized (
      select creation.stream_id, creation.created_at, last.version, last.after, last.sealed
      from (${creations}) creation ${pastRows(options, sql`creation.stream_id`)}
      where ${and(existsCondition(options), ...selectionConditions(options))}
      order by creation.created_at ${direction}, creation.stream_id ${direction} limit ${limit + 1}
    )
    (select stream_id as id, ${isoSql} as created, version, after as state, sealed from page order by ${order})
    union all
    (select stream_id, ${isoSql}, null, null, null from (${creations}) creation
      where (select count(*) from page) <= ${limit} order by ${order} offset ${maxRows - 1} limit 1)`)
  const read = z.array(Row).parse([...rows])
  const found = read.filter(({ version }) => version !== null)
  const items = found.slice(0, limit)
  const next = found.length > limit ? items.at(-1) : read.find(({ version }) => version === null)
  return {
    items: items.map((row) => options.present(pastRow(row))),
    nextCursor: next ? cursors.encode([next.created, next.id], binding) : null,
    limit,
  }
}

const isoSql = sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
