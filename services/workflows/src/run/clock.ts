import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'

/** The database time as estimated by this process; used by runs. */
export interface DatabaseClock {
  /** Unix milliseconds. */
  nowMs(): number
  /** For statements: the simulated time in tests; `null` for the database clock. */
  at(): string | null
  /** Compares the clock with the database. */
  adjust(): Promise<void>
}

export function databaseClock(sql: Database['sql'], simulated: Clock | undefined): DatabaseClock {
  if (simulated) {
    return {
      nowMs: () => Date.parse(simulated.now()),
      at: () => simulated.now(),
      adjust: () => Promise.resolve(),
    }
  }
  let aheadMs = 0
  return {
    nowMs: () => Math.round(Date.now() + aheadMs),
    at: () => null,
    async adjust() {
      const startMs = Date.now()
      const [row] = await sql.unsafe<{ ms: number }[]>(
        `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
        [],
        { prepare: true },
      )
      if (row) aheadMs = row.ms - (startMs + Date.now()) / 2
    },
  }
}
