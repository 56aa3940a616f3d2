import { type SQL, sql } from 'drizzle-orm'
import { bigint, index, integer, text, timestamp } from 'drizzle-orm/pg-core'

/** A table whose rows are each due at some time, for `createDueWork`. Its SQL is the service's own, never a caller's. */
interface DueTableOptions {
  table: string
  /** The column that names a row. */
  key: string
  /** When a row is due by itself: an expression of type timestamptz over the row, null for never. */
  dueAt: string
  /** Of which rows something is to be done at all, as the partial indexes have it. */
  waiting: string
  /** The column whose values take turns where more is due than is claimed at once, such as the workspace. */
  fairKey?: string
  /** Of the installation, in a table without `workspace_id`. */
  ofPlatform?: true
  /** What the names of the indexes begin with, when not with that of the table. */
  indexPrefix?: string
}

export interface DueTable extends DueTableOptions {
  /** When a row is due, leases and backoff included: what the indexes sort by. */
  due: string
  /**
   * The same, said in another way: by it the index of turns is the only one that fits, whatever the planner believes of how
   * many share a fairness key. By the other one it would read one's whole backlog to find the row of another.
   */
  dueInTurn: string
}

export function dueTable(options: DueTableOptions): DueTable {
  const due = `greatest(${options.dueAt}, held_until)`
  return { ...options, due, dueInTurn: `coalesce(${due}, 'infinity'::timestamptz)` }
}

/** What every table of due work has: how long a row is held back after failures, and how often it failed in a row. */
export const retryColumns = () => ({
  /** By the database's clock: the end of a lease or of a backoff. */
  heldUntil: timestamp('held_until', { withTimezone: true, mode: 'string' }),
  failures: integer('failures').notNull().default(0),
  lastError: text('last_error'),
})

/** What a table has whose rows are leased, so that they can be worked on outside of a transaction. */
export const leaseColumns = () => ({
  ...retryColumns(),
  /** The replica that works on the row; null while none does. */
  leaseOwner: text('lease_owner'),
  /** Grows with every lease: a write with an older fence fails. */
  leaseFence: bigint('lease_fence', { mode: 'bigint' }).notNull().default(sql`0`),
})

/** Due at once; a replica whose clock is ahead does not put it off. Where time is simulated it is in the past. */
export const dueNow = (now: string): SQL<string> => sql`least(${now}::timestamptz, now())`

/** The indexes that serve claims: by due time and, with a fairness key, by that first. */
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
