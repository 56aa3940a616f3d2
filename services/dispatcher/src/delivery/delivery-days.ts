import type { Database } from '@opsplane/postgres'

const dayMs = 86_400_000

/** The partitions of the tables of deliveries, one per day (UTC): see ADR 015. */
export interface DeliveryDays {
  /** Sees to it that there is a partition for each of these instants (Unix ms). */
  ensure(instants: readonly number[]): Promise<void>
  /** Forgets which partitions there are, after a statement that missed one. */
  forget(): void
}

export function createDeliveryDays(sql: Database['sql']): DeliveryDays {
  const known = new Set<number>()
  return {
    async ensure(instants) {
      const days = new Set(instants.map((instant) => Math.floor(instant / dayMs)))
      const missing = [...days].filter((day) => !known.has(day))
      if (missing.length === 0) return
      await sql.unsafe(`select add_delivery_day(date '1970-01-01' + day) from unnest($1::int[]) as day`, [
        missing,
      ])
      for (const day of missing) known.add(day)
    },
    forget: () => known.clear(),
  }
}
