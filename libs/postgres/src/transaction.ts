import { PostgresJsSession } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { Drizzle } from './database.js'

export type DrizzleTransaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0]

/** The connection of a drizzle transaction, for hand-written statements that stand or fall with it. */
export function statementsOf(tx: DrizzleTransaction): Pick<postgres.Sql, 'unsafe'> {
  const { session } = tx._
  if (!(session instanceof PostgresJsSession)) throw new Error('not a transaction of postgres.js')
  return session.client
}
