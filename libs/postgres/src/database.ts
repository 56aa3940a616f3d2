import { parseExact, stringifyExact } from '@opsplane/contracts'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { trackTransactions } from './after-commit.js'
import { guardConnections } from './one-connection.js'
import { assertPatchedClient } from './patched-client.js'
import { poolSizes } from './pool-sizes.js'
import { parseServerTarget } from './server-target.js'

/**
 * A pool on one service's schema. It is several pools on purpose: drizzle replaces the JSON and date serializers of the
 * client it is given, so the client behind `sql` is never handed to it.
 */
export interface Database {
  /** Hand-written statements; only the event store uses it. */
  sql: postgres.Sql
  /**
   * Short statements of the log: those of every write, and of the relay. Each is planned once in each connection. Left to
   * itself, Postgres plans a statement with arrays again each time where the first ones were short: for the append that took
   * longer than to run it. No transaction runs here, nor anything that takes long: it would hold up every write.
   */
  planned: postgres.Sql
  /** Typed queries; timestamps and JSON behave as drizzle defines them. */
  db: Drizzle
  url: string
  schema: string
  close(): Promise<void>
}

/** What runs a statement: the pool, or one transaction. */
export type StatementRunner = Pick<postgres.Sql, 'unsafe'>

export type Drizzle = PostgresJsDatabase<Record<string, never>>

interface ClientOptions {
  /** Becomes the search_path: tables are named without their schema. */
  schema: string
  max?: number
  applicationName?: string
  /** Server settings for every connection of the pool. */
  settings?: Record<string, string>
  /** A connection whose server is silent under a statement for so much longer than `statement_timeout` is lost; 15 s unless given. */
  silenceMarginMs?: number
}

interface ConnectOptions extends ClientOptions {
  /** Most connections of all pools together, divided by `poolSizes`; without it each pool has `max`. */
  connections?: number
}

/**
 * Opens the pools lazily: nothing is sent until the first query, lost connections are replaced, and those without use are
 * closed. Code in a transaction asks for no other connection of the same pool: once there are as many such transactions as
 * connections, each waits for another one.
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

/** JSON whose numbers keep all their digits, both ways. */
export const exactJson = { to: 114, from: [114, 3802], serialize: stringifyExact, parse: parseExact }

/** What every connection of a service has, from the client or, behind a pooler, from the login role. */
export const roleSettings = (schema: string) => ({
  search_path: schema,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
  // Compiling a statement takes longer than any of ours should run.
  jit: 'off',
})

/** A connection without use is closed after so long: what one service has at rest, another may need. */
const idleSeconds = 60

/**
 * One postgres.js client with the platform's settings. `max` 1 gives a connection of one's own. A URL with
 * `?pooler=transaction` leads to a pooler that gives each transaction a server connection: nothing is prepared or sent
 * before the statement before it is answered, and the settings are those of the login role, which provisioning gives it.
 */
export function openClient(url: string, options: ClientOptions): postgres.Sql {
  const { url: target, pooled: isPooled, ssl } = parseServerTarget(url)
  const applicationName = options.applicationName ?? `opsplane-${options.schema}`
  const settings = { ...roleSettings(options.schema), ...options.settings }
  const mayTakeMs = Number(settings.statement_timeout)
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
    // Until a statement is complete the pooler counts none, and takes the server connection away behind the one before.
    ...(isPooled && { max_pipeline: 1 }),
    // A host that is gone without a word is otherwise noticed once TCP gives up, after a quarter of an hour.
    ...(mayTakeMs > 0 && { silence_timeout: (mayTakeMs + (options.silenceMarginMs ?? 15_000)) / 1_000 }),
    connection: { application_name: applicationName, ...(!isPooled && settings) },
  })
  assertPatchedClient(client)
  trackTransactions(client)
  return guardConnections(client)
}
