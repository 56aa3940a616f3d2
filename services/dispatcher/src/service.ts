import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { TenantScope } from '@opsplane/contracts'
import {
  type BackendContext,
  type BackendOverrides,
  consumeEvents,
  type RunningService,
  startBackend,
} from '@opsplane/eventstore'
import { createOutbound, type Outbound, type Route, type ServiceClient, serviceClient } from '@opsplane/http'
import { type StreamOptions, streamPlaces } from '@opsplane/nats'
import { createVault } from '@opsplane/postgres'
import { createSealer, urlOfService } from '@opsplane/runtime'
import { catalogRoutes } from './catalog/routes.js'
import type { DispatcherConfig } from './config.js'
import { createAttempt } from './delivery/attempt.js'
import { forgetPace } from './delivery/book-slots.js'
import { failDeliveries, holdDeliveries } from './delivery/claim-statement.js'
import { createDeliveryDays } from './delivery/delivery-days.js'
import { type Dispatch, maxSlow, startDispatch } from './delivery/dispatch.js'
import { resend, resendLog } from './delivery/resend-log.js'
import { resendRoutes } from './delivery/resend-routes.js'
import { type Retention, startRetention } from './delivery/retention.js'
import { deliveryRoutes } from './delivery/routes.js'
import { createSecretValues } from './delivery/secret-values.js'
import { replay, replayLog } from './replay/replay-log.js'
import { replayRoutes } from './replay/routes.js'
import { type ReplayRunner, startReplayRunner } from './replay/runner.js'
import { topicRoutes } from './topic/routes.js'
import { createTopics, type Topics } from './topic/topics.js'
import { Waiters } from './topic/waiters.js'
import { webhook } from './webhook/domain.js'
import { createPing } from './webhook/ping.js'
import { pingRoutes } from './webhook/ping-routes.js'
import { rotateRoutes } from './webhook/rotate-routes.js'
import { webhookRoutes } from './webhook/routes.js'
import { createCredentials } from './webhook/sealing.js'
import { createTargets } from './webhook/target.js'
import { webhookAggregate } from './webhook/webhook-store.js'

export { type DispatcherConfig, loadConfig } from './config.js'

/** SQL migrations of this service's schema, for `provisionService`. */
export const migrationsDir = fileURLToPath(new URL('../migrations', import.meta.url))

/** Every kind of aggregate the service keeps, for `rebuild`. */
export const deciders = [webhook, resend, replay]

/** Tables the deciders fill beside their own: none. */
export const projectedTables: readonly string[] = []

const fanOutConsumer = 'dispatcher-delivery-fanout'
const settingsTimeoutMs = 5_000
const secretsKeptMs = 10_000

type Context = BackendContext<DispatcherConfig>

export async function start(
  config: DispatcherConfig,
  overrides: BackendOverrides = {},
): Promise<RunningService> {
  const ca = config.webhookCaFile === undefined ? undefined : await readFile(config.webhookCaFile, 'utf8')
  const outbound = createOutbound({
    allowedCidrs: config.webhookAllowedCidrs,
    allowHttp: config.webhookAllowHttp,
    // Webhooks of several tenants may call one host, so none may wait for a connection another one holds: how many
    // there are is for the sender to decide.
    connectionsPerOrigin: config.webhookConcurrency + config.webhookRetryConcurrency + maxSlow,
    ...(ca !== undefined && { ca }),
  })
  const waiters = new Waiters()
  const partsByContext = new WeakMap<Context, Parts>()
  const partsOf = (context: Context): Parts => {
    const parts = partsByContext.get(context) ?? assemble(context, outbound, waiters, overrides.streams)
    partsByContext.set(context, parts)
    return parts
  }
  return startBackend({
    name: 'dispatcher',
    config,
    deciders,
    routes: (context) => partsOf(context).routes,
    onDrain: () => waiters.drain(),
    extraReleasers(context, releasers) {
      const { dispatch, replays, retention, settings, topics } = partsOf(context)
      releasers.add('outbound', () => outbound.close())
      releasers.add('settings client', () => settings.close())
      releasers.add('topics', () => topics.close())
      releasers.add('dispatch', () => dispatch.close(config.webhookStopGraceMs))
      releasers.add('replays', () => replays.close())
      releasers.add('retention', () => retention.close())
    },
    consumers: (context) => [
      consumeEvents({
        database: context.database,
        link: context.link,
        names: context.names,
        log: context.log,
        durable: fanOutConsumer,
        // Deliveries are unique by event and webhook, so they are committed by themselves: the first attempt
        // starts before the batch's checkpoint is written, and a repeated batch changes nothing.
        perform: (events, places) => partsOf(context).dispatch.fanOut(events, places),
      }),
    ],
    overrides,
  })
}

interface Parts {
  routes: Route[]
  dispatch: Dispatch
  replays: ReplayRunner
  retention: Retention
  settings: ServiceClient
  topics: Topics
}

/** Wires the sending to the context, and the routes to both. */
function assemble(context: Context, outbound: Outbound, waiters: Waiters, streams?: StreamOptions): Parts {
  const { config, database, store, issuer, clock, log, relay, cursors, link, names } = context
  const sealer = createSealer(config.opsplaneMasterKey, config.opsplanePreviousMasterKeys)
  log.info({ keyIds: sealer.keyIds }, 'master keys, the present one first')
  const vault = createVault(database.db, sealer)
  const aggregate = webhookAggregate(store)
  const nowMs = () => Date.parse(clock.now())
  const settings = serviceClient({
    baseUrl: urlOfService(config, 'settings'),
    audience: 'settings',
    issuer,
    timeoutMs: settingsTimeoutMs,
  })
  const targetOf = createTargets()
  const attempt = createAttempt({
    outbound,
    credentials: createCredentials(vault, nowMs),
    resolveSecrets: createSecretValues(settings, secretsKeptMs, nowMs),
    nowMs,
  })
  const days = createDeliveryDays(database.sql)
  const keptDays = config.webhookRetentionDays
  const heldDays = config.webhookHeldRetentionDays
  const retention = startRetention({ database, days, log, nowMs, random: Math.random, keptDays, heldDays })
  const places = streamPlaces(link, names.eventsStream)
  const dispatch = startDispatch({
    database,
    days,
    keptDays,
    heldDays,
    store,
    webhooks: aggregate,
    clock,
    log,
    nowMs,
    owner: `replica_${randomUUID()}`,
    targetOf,
    floor: () => places.floor(fanOutConsumer),
    attempt,
    random: Math.random,
    announce: relay.wake,
    leaseMs: config.webhookLeaseMs,
    drainPerSecond: config.webhookDrainPerSecond,
    jitter: config.webhookRetryJitter,
    concurrency: {
      first: config.webhookConcurrency,
      retry: config.webhookRetryConcurrency,
      endpoint: config.webhookEndpointConcurrency,
    },
  })
  const recordReplay = replayLog(store)
  const replays = startReplayRunner({
    database,
    record: recordReplay,
    days,
    log,
    nowMs,
    perSecond: config.webhookDrainPerSecond,
    wake: dispatch.wake,
    announce: relay.wake,
  })
  const topics = createTopics({ link, names, waiters, log, ...(streams && { streams }) })
  const onChange = async (webhookId: string, tenant: TenantScope) => {
    const found = await aggregate.find(webhookId, tenant)
    if (!found) {
      await failDeliveries(database.sql, webhookId)
      await forgetPace(database.sql, webhookId)
    }
    if (found?.state.status === 'paused') await holdDeliveries(database.sql, webhookId)
    await dispatch.refresh(webhookId)
    if (found?.state.status === 'active') dispatch.drain()
  }
  return {
    dispatch,
    replays,
    retention,
    settings,
    topics,
    routes: [
      ...topicRoutes(topics),
      ...webhookRoutes({ database, cursors, vault, outbound, aggregate, onChange }),
      ...rotateRoutes({ database, store, vault, aggregate, onChange }),
      ...deliveryRoutes({ database, aggregate }),
      ...resendRoutes({
        database,
        days,
        nowMs,
        record: resendLog(store),
        wake: dispatch.wake,
        announce: relay.wake,
      }),
      ...replayRoutes({
        database,
        aggregate,
        nowMs,
        record: recordReplay,
        kick: replays.kick,
        announce: relay.wake,
      }),
      ...pingRoutes(createPing({ aggregate, attempt, targetOf })),
      ...catalogRoutes(context),
    ],
  }
}
