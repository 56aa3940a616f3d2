import { idTime } from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { startDaily } from './periodic.js'

/**
 * Months of a table that is partitioned by the time in its ids, like the log (ADR 036). `add` is a function of the
 * schema that creates a month's partition.
 */
export function createMonths(add: string) {
  const known = new Set<number>()
  /** The month of the last id, in Unix milliseconds: most ids belong to the same month. */
  let last = { start: 0, end: 0 }
  return {
    /** Creates the partition for this id if necessary. `undefined` if this process knows already that it exists. */
    ensure(sql: StatementRunner, id: string): Promise<void> | undefined {
      const at = idTime(id)
      if (at >= last.start && at < last.end) return undefined
      const month = monthOf(at)
      const made = async () => {
        if (!known.has(month.start)) {
          const [row] = await sql.unsafe<{ isKept: boolean }[]>(
            `select ${add}($1::text::date), pg_current_xact_id_if_assigned() is null as "isKept"`,
            [new Date(at).toISOString()],
          )
          if (!row?.isKept && !(await isOlderThanTransaction(sql))) return
          known.add(month.start)
        }
        last = month
      }
      return made()
    },
    /** Forgets which partitions exist. */
    forget() {
      known.clear()
      last = { start: 0, end: 0 }
    },
  }
}

/**
 * Whether all partitions are older than this transaction, which has already written: a partition it created itself
 * would be rolled back with it.
 */
async function isOlderThanTransaction(sql: StatementRunner): Promise<boolean> {
  const [row] = await sql.unsafe<{ isOlder: boolean }[]>(
    `select not exists (select from pg_inherits where age(xmin) <= age(pg_current_xact_id()::xid)) as "isOlder"`,
  )
  return row?.isOlder === true
}

/** The month in UTC. */
function monthOf(at: number): { start: number; end: number } {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

const monthsAhead = 3

/**
 * Creates the partitions of the current month and the months ahead, now and every day, until closed. `add` is a
 * function of the schema that creates the partition of the month a day belongs to.
 */
export function startMonths(sql: Database['sql'], log: Logger, add: string): { close(): Promise<void> } {
  return startDaily(log, `the months ahead could not be added by ${add}`, async () => {
    await sql.unsafe(
      `select ${add}((now() at time zone 'UTC' + make_interval(months => ahead))::date)
       from generate_series(0, ${monthsAhead}) ahead`,
    )
  })
}
