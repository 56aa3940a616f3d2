import { randomUUID } from 'node:crypto'
import {
  backendNames,
  durableConsumers,
  type EventCatalog,
  type NatsNames,
  natsNames,
  serviceRegistry,
  topicConsumers,
} from '@opsplane/contracts'
import {
  type ConsumeEventsOptions,
  type ConsumerSettings,
  consumeEvents,
  createEventStore,
  type EventConsumer,
  type EventHandling,
  type EventStore,
  type LogSource,
  ownLog,
  type Relay,
  remoteLog,
  startIdempotencyPurge,
  startMonths,
  startRelay,
} from '@opsplane/eventstore'
import { createInternalIssuer, type InternalIssuer, type InternalTls, readInternalTls } from '@opsplane/http'
import {
  claimStream,
  connectNats,
  createEventSignatures,
  type NatsLink,
  type ServiceIdentity,
  type StreamOptions,
  toStreamOptions,
} from '@opsplane/nats'
import { connect, createDueWork, type Database, type DueWorkGroup } from '@opsplane/postgres'
import {
  type BackendConfig,
  type Clock,
  type CursorCodec,
  cursorCodec,
  type Logger,
  type Releasers,
  systemClock,
} from '@opsplane/runtime'
import type { Metrics, Tracing } from '@opsplane/telemetry'
import { measureService } from './measure.js'
import { openServiceClient } from './open-service-client.js'
import { createOperations, type Operations } from './operations/operations.js'
import { wakeHints } from './wake-hints.js'

/** Everything a service's routes and background work use. */
export interface ServiceContext<Config extends BackendConfig = BackendConfig> {
  config: Config
  database: Database
  store: EventStore
  relay: Relay
  /** What is to be done at its time; closed after the last request, before what it works with. */
  dueWork: DueWorkGroup
  link: NatsLink
  names: NatsNames
  issuer: InternalIssuer
  /** How it calls other services, and is called; undefined for without TLS. */
  tls: InternalTls | undefined
  cursors: CursorCodec
  /** Consumes platform events with the service's own database and log: see `consumeEvents`. */
  consume(options: ServiceConsumer): EventConsumer
  /** The logs of all services that are configured, this one's included. */
  logs: readonly LogSource[]
  clock: Clock
  /** How far it is with its events and its work, for those who operate the installation. */
  operations: Operations
  /** The metrics of the service; not served where no port is set. */
  metrics: Metrics
  /** Follows what is done; nothing where telemetry goes nowhere. */
  tracing: Tracing
  log: Logger
}

/** A consumer of a service: what is its own about it. */
export type ServiceConsumer = Omit<
  ConsumerSettings,
  'database' | 'link' | 'names' | 'log' | 'tracing' | 'filterSubjects' | 'history' | 'ackWaitMs'
> & {
  /** Event types, and patterns such as `incident.*`; every event when absent. */
  types?: readonly string[]
  /**
   * What is filled from the logs of all services when the stream no longer has it: `all` for a projection, which is nothing
   * without its past; else the events that were missed since the consumer is there.
   */
  history?: 'all' | 'gap'
} & EventHandling

/** What tests and the one-process run replace. */
export interface ServiceOverrides {
  /** Simulates the time. Due work goes by it as well, and by nothing but the database's clock without. */
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

interface OpenContextOptions<Config extends BackendConfig> {
  name: string
  schema: string
  config: Config
  overrides: ServiceOverrides
  log: Logger
  metrics: Metrics
  tracing: Tracing
  releasers: Releasers
}

/** Opens what every service has; NATS and Postgres may be away. Registers how each is closed. */
export function openContext<Config extends BackendConfig>(
  options: OpenContextOptions<Config>,
): ServiceContext<Config> {
  const { name, schema, config, overrides, log, metrics, tracing, releasers } = options
  const names = natsNames(config.natsPrefix)
  const database = connect(config.databaseUrl, {
    schema,
    connections: config.databasePoolSize,
    applicationName: `opsplane-${name}`,
  })
  releasers.add('database', () => database.close())
  const identity = natsIdentity(name, config)
  const { installationId } = config
  const admit = installationId === undefined ? undefined : claimStream(names, installationId)
  const link = connectNats({ url: config.natsUrl, name: `opsplane-${name}`, log, identity, admit })
  releasers.add('nats', () => link.close())
  const relay = startRelay({
    database,
    schema,
    link,
    names,
    instanceId: config.instanceId,
    log,
    tracing,
    streams: { ...toStreamOptions(config), ...overrides.streams },
  })
  releasers.add('relay', () => relay.close())
  const months = startMonths(database.sql, log, 'add_event_month')
  releasers.add('log months', () => months.close())
  const tls = readInternalTls(config)
  const issuer = createInternalIssuer({ service: name, privateKey: config.servicePrivateKey })
  const purge = startIdempotencyPurge(database.sql, log)
  releasers.add('idempotency purge', () => purge.close())
  const dueWork = createDueWork({
    sql: database.sql,
    log,
    // The lease row names the replica that owns it; a restarted replica has a new name.
    owner: `${config.instanceId}:${randomUUID()}`,
    simulated: overrides.clock,
    hints: wakeHints(link, names, name),
  })
  releasers.add('due work', () => dueWork.close())
  const consumers = new Map<string, EventConsumer>()
  measureService(metrics, { database, relay, link, dueWork, consumers })
  const logs = [ownLog(schema, database), ...otherLogs({ name, config, issuer, tls, releasers })]
  return {
    config,
    database,
    store: createEventStore({
      database,
      onCommit: relay.offer,
      onCommitWithin: relay.wake,
      ...(overrides.checkedAgainst && { checkedAgainst: overrides.checkedAgainst }),
    }),
    relay,
    dueWork,
    link,
    names,
    issuer,
    tls,
    cursors: cursorCodec(config.cursorSecret),
    logs,
    consume({ types, history = 'gap', ...options }) {
      const filter = types && { filterSubjects: names.eventFilters(types) }
      const own: ConsumeEventsOptions = {
        database,
        link,
        names,
        log,
        tracing,
        ackWaitMs: config.natsAckWaitMs,
        ...options,
        ...filter,
        history: { of: history, logs },
      }
      const consumer = consumeEvents(own)
      consumers.set(own.durable, consumer)
      return consumer
    },
    clock: overrides.clock ?? systemClock,
    operations: createOperations({ database, link, names, dueWork, consumers }),
    metrics,
    tracing,
    log,
  }
}

/** Events are signed for every service that checks them, and for this one where no registry knows it. */
function natsIdentity(name: string, config: BackendConfig): ServiceIdentity {
  const registered: Readonly<Record<string, readonly string[] | undefined>> = durableConsumers
  const onTopics: Readonly<Record<string, readonly string[] | undefined>> = topicConsumers
  return {
    durables: name in serviceRegistry ? [...(registered[name] ?? []), ...(onTopics[name] ?? [])] : undefined,
    signatures: createEventSignatures({
      service: name,
      privateKey: config.servicePrivateKey,
      previousPrivateKeys: config.previousServicePrivateKeys,
      trustedKeys: config.trustedServiceKeys,
      verifiers: [...new Set([...Object.keys(durableConsumers), name])],
    }),
  }
}

const logTimeoutMs = 30_000

/** The logs of the other services that are configured and have one. */
function otherLogs({
  name,
  config,
  issuer,
  tls,
  releasers,
}: Pick<OpenContextOptions<BackendConfig>, 'name' | 'config' | 'releasers'> & {
  issuer: InternalIssuer
  tls: InternalTls | undefined
}) {
  const others = backendNames.filter((other) => other !== name && config.serviceUrls[other] !== undefined)
  return others.map((other) => {
    const client = openServiceClient({ config, issuer, tls }, other, logTimeoutMs)
    releasers.add(`log of ${other}`, () => client.close())
    return remoteLog(other.replaceAll('-', '_'), client)
  })
}
