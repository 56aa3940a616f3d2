import { type EventCatalog, type NatsNames, natsNames } from '@opsplane/contracts'
import {
  createApp,
  createInternalIssuer,
  createInternalVerifier,
  type InternalIssuer,
  listen,
  type Route,
} from '@opsplane/http'
import { connectNats, type NatsLink, type StreamOptions, streamOptionsOf } from '@opsplane/nats'
import {
  asciiLettersOnly,
  connect,
  type Database,
  knowsAllLetters,
  translatePostgresError,
} from '@opsplane/postgres'
import {
  type BackendConfig,
  type Clock,
  type CursorCodec,
  createLogger,
  createReleasers,
  cursorCodec,
  type Logger,
  type Releasers,
  type RunningService,
  systemClock,
} from '@opsplane/runtime'
import { startIdempotencyPurge } from './idempotency.js'
import type { AnyDecider } from './rebuild.js'
import { type Relay, startRelay } from './relay.js'
import { createEventStore, type EventStore } from './store.js'

/** Everything a service's routes and consumers work with. */
export interface BackendContext<Config extends BackendConfig = BackendConfig> {
  config: Config
  database: Database
  store: EventStore
  relay: Relay
  link: NatsLink
  names: NatsNames
  issuer: InternalIssuer
  cursors: CursorCodec
  clock: Clock
  log: Logger
}

/** What tests and the one-process run replace. */
export interface BackendOverrides {
  clock?: Clock
  log?: Logger
  /** Limits of the JetStream streams. */
  streams?: StreamOptions
  /** Events that are not the platform's, for tests of the store itself. */
  checkedAgainst?: EventCatalog
}

export interface Closable {
  close(): Promise<void> | void
}

export interface BackendOptions<Config extends BackendConfig> {
  /** The service's name, its identity between services; with `_` for `-` also its schema. */
  name: string
  config: Config
  /** Every kind of aggregate of the service; no two may share a table. */
  deciders?: readonly AnyDecider[]
  routes(context: BackendContext<Config>): Route[]
  /** Looks for words of texts, which is worth a warning where the database knows the letters of ASCII only. */
  searchesTexts?: boolean
  /** Event consumers and other background work; closed after the last request, before the relay. */
  consumers?(context: BackendContext<Config>): Closable[] | Promise<Closable[]>
  /** Registers how to close what the routes opened; closed after the consumers. */
  extraReleasers?(context: BackendContext<Config>, releasers: Releasers): void
  /** Called first on stop, to let go of requests that wait for something. */
  onDrain?(): void
  overrides?: BackendOverrides
}

/**
 * Starts a service with a database: pool, NATS, event store, relay, app. NATS may be away at the start and later;
 * requests are answered all the same. Stops in the opposite order: intake first, the database last.
 */
export async function startBackend<Config extends BackendConfig>(
  options: BackendOptions<Config>,
): Promise<RunningService> {
  const { name, config, overrides = {} } = options
  refuseSharedTables(options.deciders ?? [])
  const log = overrides.log ?? createLogger({ service: name, level: config.logLevel })
  const releasers = createReleasers(log)
  try {
    const context = openContext(options, log, releasers)
    const routes = options.routes(context)
    options.extraReleasers?.(context, releasers)
    for (const consumer of (await options.consumers?.(context)) ?? [])
      releasers.add('consumer', () => consumer.close())
    const app = createApp({
      service: name,
      routes,
      verifier: createInternalVerifier({ service: name, trustedKeys: config.trustedServiceKeys }),
      idempotency: context.store.idempotency,
      log,
      clock: context.clock,
      readiness: () => readiness(context.database),
      translateError: translatePostgresError,
    })
    const { onDrain } = options
    const listening = await listen(app, {
      port: config.port,
      host: config.host,
      log,
      ...(onDrain && { onDrain }),
    })
    releasers.add('http', () => listening.close())
    log.info({ port: listening.port }, 'listening')
    if (options.searchesTexts) void warnOfAsciiOnly(context)
    const url = `http://${config.host}:${listening.port}`
    return { name, port: listening.port, url, stop: () => releasers.release() }
  } catch (error) {
    await releasers.release().catch(() => {})
    throw error
  }
}

function openContext<Config extends BackendConfig>(
  { name, config, overrides = {} }: BackendOptions<Config>,
  log: Logger,
  releasers: Releasers,
): BackendContext<Config> {
  const schema = name.replaceAll('-', '_')
  const names = natsNames(config.natsPrefix)
  const database = connect(config.databaseUrl, {
    schema,
    max: config.databasePoolSize,
    applicationName: `opsplane-${name}`,
  })
  releasers.add('database', () => database.close())
  const link = connectNats({ url: config.natsUrl, name: `opsplane-${name}`, log })
  releasers.add('nats', () => link.close())
  const relay = startRelay({
    databaseUrl: config.databaseUrl,
    schema,
    link,
    names,
    instanceId: config.instanceId,
    log,
    streams: { ...streamOptionsOf(config), ...overrides.streams },
  })
  releasers.add('relay', () => relay.close())
  const purge = startIdempotencyPurge(database.sql, log)
  releasers.add('idempotency purge', () => purge.close())
  return {
    config,
    database,
    store: createEventStore({
      database,
      log,
      onCommit: relay.wake,
      ...(overrides.checkedAgainst && { checkedAgainst: overrides.checkedAgainst }),
    }),
    relay,
    link,
    names,
    issuer: createInternalIssuer({ service: name, privateKey: config.servicePrivateKey }),
    cursors: cursorCodec(config.cursorSecret),
    clock: overrides.clock ?? systemClock,
    log,
  }
}

/** Nobody waits for it: where Postgres is away at the start, requests say so. */
async function warnOfAsciiOnly({ database, log }: BackendContext): Promise<void> {
  const knows = await knowsAllLetters(database.sql).catch(() => true)
  if (!knows) log.warn(asciiLettersOnly)
}

/** NATS is not asked for: without it events wait in Postgres and requests are answered. */
async function readiness(database: Database): Promise<Record<string, string>> {
  try {
    await database.sql`select 1`
    return { database: 'up' }
  } catch {
    return { database: 'cannot be reached' }
  }
}

/** The table names a decider in the log, so two of one table could not be told apart when it is read back. */
function refuseSharedTables(deciders: readonly AnyDecider[]): void {
  const tables = new Set<string>()
  for (const { table } of deciders) {
    if (tables.has(table)) throw new Error(`two deciders keep their state in ${table}`)
    tables.add(table)
  }
}
