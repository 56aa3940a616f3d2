import { type Database, isMissingPartition } from '@opsplane/postgres'
import { toDayNumber } from './retention-policy.js'

/** The daily partitions (UTC) of the delivery tables: see ADR 015. */
export interface DeliveryDays {
  /** Ensures that a partition exists for each of these instants (Unix ms). */
  ensure(instants: readonly number[]): Promise<void>
  /** Runs `insert` for rows with these instants; repeats it once if a partition turns out to be gone. */
  inserting<Result>(instants: readonly number[], insert: () => Promise<Result>): Promise<Result>
  /** Clears the cache of existing partitions. */
  forget(): void
}

export function createDeliveryDays(sql: Database['sql']): DeliveryDays {
  const known = new Set<number>()

  async function ensure(instants: readonly number[]) {
    const missing = [...new Set(instants.map(toDayNumber))].filter((day) => !known.has(day))
    if (missing.length === 0) return
    await sql.unsafe(`select add_delivery_day(date '1970-01-01' + day) from unnest($1::int[]) as day`, [
      missing,
    ])
    for (const day of missing) known.add(day)
  }

  return {
    ensure,
    async inserting(instants, insert) {
      await ensure(instants)
      try {
        return await insert()
      } catch (error) {
        if (!isMissingPartition(error)) throw error
        known.clear()
        await ensure(instants)
        return insert()
      }
    },
    forget: () => known.clear(),
  }
}
