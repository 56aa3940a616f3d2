import { parseExact, stringifyExact } from '@opsplane/contracts'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { trackTransactions } from './after-commit.js'
import { guardConnections } from './one-connection.js'
import { assertPatchedClient } from './patched-client.js'
import { poolSizes } from './pool-sizes.js'
import { parseServerTarget } from './server-target.js'

/**
 * Connection pools for one service's schema. There are several on purpose: drizzle replaces the JSON and date
 * serializers of the client passed to it, so the client behind `sql` is never passed to drizzle.
 */
export interface Database {
  /** Hand-written statements. */
  sql: postgres.Sql
  /**
   * Short statements of the log: those of every write, and of the relay. Each is planned once per connection. By
   * default Postgres would plan a statement with array parameters again for each execution if the first arrays were
   * short; for the append, planning took longer than executing it. No transactions or long statements run here: they
   * would delay every write.
   */
  planned: postgres.Sql
  /** Typed queries; timestamps and JSON behave as drizzle defines them. */
  db: Drizzle
  url: string
  schema: string
  close(): Promise<void>
}

/** Executes statements: the pool, or a transaction. */
export type StatementRunner = Pick<postgres.Sql, 'unsafe'>

export type Drizzle = PostgresJsDatabase<Record<string, never>>

interface ClientOptions {
  /** Becomes the search_path, so that table names need no schema. */
  schema: string
  max?: number
  applicationName?: string
  /** Server settings for every connection of the pool. */
  settings?: Record<string, string>
  /**
   * A connection counts as lost if its server is silent during a statement for longer than `statement_timeout` plus
   * this margin; 15 s if absent.
   */
  silenceMarginMs?: number
}

interface ConnectOptions extends ClientOptions {
  /** Maximum number of connections of all pools together, divided by `poolSizes`; without it each pool has `max`. */
  connections?: number
}

/**
 * Opens the pools lazily: nothing is sent until the first query, lost connections are replaced, and unused ones
 * are closed. Code in a transaction must not use another connection of the same pool: with as many such
 * transactions as connections, each would wait for another.
 */
export function connect(url: string, { connections, ...options }: ConnectOptions): Database {
  const sizes = connections === undefined ? undefined : poolSizes(connections)
  const open = (max = options.max, settings = {}) =>
    openClient(url, {
      ...options,
      ...(max !== undefined && { max }),
      settings: { ...options.settings, ...settings },
    })
  const sql = open(sizes?.statements)
  const drizzleClient = open(sizes?.queries)
  const planned = open(sizes?.writes, { plan_cache_mode: 'force_generic_plan' })
  return {
    sql,
    planned,
    db: drizzle(drizzleClient),
    url,
    schema: options.schema,
    close: async () => {
      await Promise.all([sql, planned, drizzleClient].map((client) => client.end({ timeout: 5 })))
    },
  }
}

/** JSON whose numbers keep all their digits in both directions. */
export const exactJson = { to: 114, from: [114, 3802], serialize: stringifyExact, parse: parseExact }

/** Settings of every connection of a service, sent by the client or, behind a pooler, set on the login role. */
export const roleSettings = (schema: string) => ({
  search_path: schema,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
  // JIT compilation takes longer than any of our statements should run.
  jit: 'off',
})

/** Unused connections are closed after this time, because another service may need them. */
const idleSeconds = 60

/**
 * A postgres.js client with the platform's settings. `max` 1 gives a dedicated connection. A URL with
 * `?pooler=transaction` leads to a pooler that assigns a server connection to each transaction: no statement is
 * prepared or sent before the previous one is answered, and the settings are those of the login role, set by
 * provisioning.
 */
export function openClient(url: string, options: ClientOptions): postgres.Sql {
  const { url: target, pooled: isPooled, ssl } = parseServerTarget(url)
  const applicationName = options.applicationName ?? `opsplane-${options.schema}`
  const settings = { ...roleSettings(options.schema), ...options.settings }
  const statementTimeoutMs = Number(settings.statement_timeout)
  const client = postgres(target, {
    max: options.max ?? 8,
    idle_timeout: idleSeconds,
    connect_timeout: 5,
    max_lifetime: null,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 1),
    onnotice: () => {},
    prepare: !isPooled,
    types: { json: exactJson },
    ...(ssl && { ssl }),
    // The pooler counts a statement only once it is complete, and would withdraw the server connection after the
    // previous one.
    ...(isPooled && { max_pipeline: 1 }),
    // Otherwise a host that disappears silently is only noticed when TCP gives up, after a quarter of an hour.
    ...(statementTimeoutMs > 0 && {
      silence_timeout: (statementTimeoutMs + (options.silenceMarginMs ?? 15_000)) / 1_000,
    }),
    connection: { application_name: applicationName, ...(!isPooled && settings) },
  })
  assertPatchedClient(client)
  trackTransactions(client)
  return guardConnections(client)
}
