import type { Drizzle } from '@opsplane/postgres'

/** A drizzle transaction; `tx.execute` accepts handwritten SQL. */
export type Transaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0]
