import { PgDialect } from 'drizzle-orm/pg-core'
import { PostgresJsSession, PostgresJsTransaction } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { Drizzle } from './database.js'

type DrizzleTransaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0]

/** The connection of a drizzle transaction, for hand-written statements within it. */
export function toStatementRunner(tx: DrizzleTransaction): Pick<postgres.Sql, 'unsafe'> {
  const { session } = tx._
  if (!(session instanceof PostgresJsSession)) throw new Error('not a transaction of postgres.js')
  return session.client
}

/** The reverse: typed queries in a transaction of hand-written statements, such as those of due work. */
export function toDrizzle(tx: Pick<postgres.Sql, 'unsafe'>): DrizzleTransaction {
  const dialect = new PgDialect()
  // A session runs statements only through the client's `unsafe`.
  const client = tx as postgres.Sql & postgres.TransactionSql
  const session = new PostgresJsSession<typeof client, Record<string, never>, Record<string, never>>(
    client,
    dialect,
    undefined,
  )
  return new PostgresJsTransaction(dialect, session, undefined)
}
