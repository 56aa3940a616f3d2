import type { Drizzle } from '@opsplane/postgres'

/** A drizzle transaction; `tx.execute` takes statements written by hand. */
export type Transaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0]
