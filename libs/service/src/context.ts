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
  /** The service's due work; closed after the last request, before its dependencies. */
  dueWork: DueWorkGroup
  link: NatsLink
  names: NatsNames
  issuer: InternalIssuer
  /** TLS of calls to and from other services; `undefined` for plain connections. */
  tls: InternalTls | undefined
  cursors: CursorCodec
  /** Consumes platform events with the service's own database and log: see `consumeEvents`. */
  consume(options: ServiceConsumer): EventConsumer
  /** The logs of all configured services, including this one. */
  logs: readonly LogSource[]
  clock: Clock
  /** Publication and work backlog of the service, for the operators of the installation. */
  operations: Operations
  /** The metrics of the service; not served if no port is configured. */
  metrics: Metrics
  /** Traces the service's work; a no-op if no telemetry endpoint is configured. */
  tracing: Tracing
  log: Logger
}

/** The consumer-specific options of a service's consumer. */
export type ServiceConsumer = Omit<
  ConsumerSettings,
  'database' | 'link' | 'names' | 'log' | 'tracing' | 'filterSubjects' | 'history' | 'ackWaitMs'
> & {
  /** Event types, and patterns such as `incident.*`; every event if absent. */
  types?: readonly string[]
  /**
   * Backfill from the logs of all services for events the stream no longer contains. `all`: the whole history, as
   * projections need it. `gap` (default): events missed since the consumer was created.
   */
  history?: 'all' | 'gap'
} & EventHandling

/** Parts replaced by tests and by the one-process run. */
export interface ServiceOverrides {
  /** Simulates the time, also for due work. If absent, due work only uses the database's clock. */
  clock?: Clock
  log?: Logger
  /** Limits of the JetStream streams. */
  streams?: StreamOptions
  /** A catalogue of other events than the platform's, for tests of the store itself. */
  checkedAgainst?: EventCatalog
}

/** Work that runs by itself, or owns a resource, until it is closed. */
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

/** Opens the parts common to all services; NATS and Postgres may be unavailable. Registers how each part is closed. */
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

/** Events are signed for every service that verifies them, and for this one if it is not in the registry. */
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

/** The logs of the other configured services that have one. */
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
