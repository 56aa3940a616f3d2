import { type EventCatalog, type NatsNames, natsNames } from '@opsplane/contracts'
import {
  createEventStore,
  type EventStore,
  type Relay,
  startIdempotencyPurge,
  startLogMonths,
  startRelay,
} from '@opsplane/eventstore'
import { createInternalIssuer, type InternalIssuer } from '@opsplane/http'
import { connectNats, type NatsLink, type StreamOptions, streamOptionsOf } from '@opsplane/nats'
import { connect, type Database } from '@opsplane/postgres'
import {
  type BackendConfig,
  type Clock,
  type CursorCodec,
  cursorCodec,
  type Logger,
  type Releasers,
  systemClock,
} from '@opsplane/runtime'

/** Everything a service's routes and background work use. */
export interface ServiceContext<Config extends BackendConfig = BackendConfig> {
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
export interface ServiceOverrides {
  clock?: Clock
  log?: Logger
  /** Limits of the JetStream streams. */
  streams?: StreamOptions
  /** Events that are not the platform's, for tests of the store itself. */
  checkedAgainst?: EventCatalog
}

/** Something that goes on by itself, or holds a resource, until it is closed. */
export interface BackgroundWork {
  close(): Promise<void> | void
}

export interface OpenContextOptions<Config extends BackendConfig> {
  name: string
  schema: string
  config: Config
  overrides: ServiceOverrides
  log: Logger
  releasers: Releasers
}

/** Opens what every service has; NATS and Postgres may be away. Registers how each is closed. */
export function openContext<Config extends BackendConfig>(
  options: OpenContextOptions<Config>,
): ServiceContext<Config> {
  const { name, schema, config, overrides, log, releasers } = options
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
  const months = startLogMonths(database.sql, log)
  releasers.add('log months', () => months.close())
  const purge = startIdempotencyPurge(database.sql, log)
  releasers.add('idempotency purge', () => purge.close())
  return {
    config,
    database,
    store: createEventStore({
      database,
      log,
      onCommit: relay.offer,
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
