import { type SQL, sql } from 'drizzle-orm'
import { bigint, index, integer, text, timestamp } from 'drizzle-orm/pg-core'

/**
 * A table whose rows are each due at some time, for `createDueWork`. Its SQL comes from the service, never from a
 * caller.
 */
interface DueTableOptions {
  table: string
  /** The key column. */
  key: string
  /**
   * When a row is due, without leases and backoff: an expression of type timestamptz over the row,
   * `null` for never.
   */
  dueAt: string
  /** Condition for rows with anything left to do, identical to the predicate of the partial indexes. */
  waiting: string
  /** The column whose values are served by turns when more rows are due than one claim takes, such as the workspace. */
  fairKey?: string
  /** The work belongs to the installation; its table has no `workspace_id`. */
  ofPlatform?: true
  /** Prefix of the index names, if it differs from the table's name. */
  indexPrefix?: string
}

export interface DueTable extends DueTableOptions {
  /** When a row is due, including leases and backoff: the sort key of the indexes. */
  due: string
  /**
   * The same value as a different expression, for which only the turn index matches, whatever the planner estimates
   * about rows per fairness key. With the other expression it would read one key's whole backlog to find the rows of
   * another.
   */
  dueInTurn: string
}

export function dueTable(options: DueTableOptions): DueTable {
  const due = `greatest(${options.dueAt}, held_until)`
  return { ...options, due, dueInTurn: `coalesce(${due}, 'infinity'::timestamptz)` }
}

/** The columns of every table of due work: the end of a row's delay after failures, and its consecutive failures. */
export const retryColumns = () => ({
  /** The end of a lease or of a backoff, by the database's clock. */
  heldUntil: timestamp('held_until', { withTimezone: true, mode: 'string' }),
  failures: integer('failures').notNull().default(0),
  lastError: text('last_error'),
})

/** The columns of tables whose rows are leased, so that they can be worked on outside a transaction. */
export const leaseColumns = () => ({
  ...retryColumns(),
  /** The replica that works on the row; `null` if none does. */
  leaseOwner: text('lease_owner'),
  /** Increases with every lease: a write with an older fence fails. */
  leaseFence: bigint('lease_fence', { mode: 'bigint' }).notNull().default(sql`0`),
})

/** Due immediately; a replica whose clock is ahead does not delay it. Simulated times are in the past. */
export const dueNow = (now: string): SQL<string> => sql`least(${now}::timestamptz, now())`

/** The indexes that serve claims: by due time and, with a fairness key, by that key first. */
export function dueIndexes({ table, due, dueInTurn, waiting, fairKey, indexPrefix = table }: DueTable) {
  const dueOnly = index(`${indexPrefix}_due_idx`).on(sql.raw(due)).where(sql.raw(waiting))
  if (fairKey === undefined) return [dueOnly]
  const columns: [SQL, SQL] = [sql.raw(fairKey), sql.raw(dueInTurn)]
  return [
    dueOnly,
    index(`${indexPrefix}_turn_idx`)
      .on(...columns)
      .where(sql.raw(waiting)),
  ]
}
