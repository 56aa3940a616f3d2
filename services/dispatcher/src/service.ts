import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { TenantScope } from '@opsplane/contracts'
import { consumeEvents } from '@opsplane/eventstore'
import { createOutbound, type Outbound, type Route, type ServiceClient, serviceClient } from '@opsplane/http'
import { streamPlaces } from '@opsplane/nats'
import { createVault } from '@opsplane/postgres'
import { createSealer, urlOfService } from '@opsplane/runtime'
import { type BackgroundWork, defineService, type ServiceContext } from '@opsplane/service'
import { catalogRoutes } from './catalog/routes.js'
import { type DispatcherConfig, loadConfig } from './config.js'
import { createAttempt } from './delivery/attempt.js'
import { forgetPace } from './delivery/book-slots.js'
import { failDeliveries, holdDeliveries } from './delivery/claim-statement.js'
import { createDeliveryDays } from './delivery/delivery-days.js'
import { maxSlow, startDispatch } from './delivery/dispatch.js'
import { resend, resendLog } from './delivery/resend-log.js'
import { resendRoutes } from './delivery/resend-routes.js'
import { startRetention } from './delivery/retention.js'
import { deliveryRoutes } from './delivery/routes.js'
import { createSecretValues } from './delivery/secret-values.js'
import { replay, replayLog } from './replay/replay-log.js'
import { replayRoutes } from './replay/routes.js'
import { startReplayRunner } from './replay/runner.js'
import { topicRoutes } from './topic/routes.js'
import { createTopics } from './topic/topics.js'
import { Waiters } from './topic/waiters.js'
import { webhook } from './webhook/domain.js'
import { createPing } from './webhook/ping.js'
import { pingRoutes } from './webhook/ping-routes.js'
import { rotateRoutes } from './webhook/rotate-routes.js'
import { webhookRoutes } from './webhook/routes.js'
import { createCredentials } from './webhook/sealing.js'
import { createTargets } from './webhook/target.js'
import { webhookAggregate } from './webhook/webhook-store.js'

const fanOutConsumer = 'dispatcher-delivery-fanout'
const settingsTimeoutMs = 5_000
const secretsKeptMs = 10_000

type Context = ServiceContext<DispatcherConfig>

export const dispatcher = defineService<DispatcherConfig>({
  name: 'dispatcher',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [webhook, resend, replay],
  async setup(ctx, { streams }) {
    const { link, names, log } = ctx
    const waiters = new Waiters()
    const outbound = await openOutbound(ctx.config)
    const settings = settingsClient(ctx)
    const topics = createTopics({ link, names, waiters, log, ...(streams && { streams }) })
    const sending = startSending(ctx, outbound, settings)
    return {
      routes: [...topicRoutes(topics), ...sending.routes, ...catalogRoutes(ctx)],
      background: [outbound, settings, topics, ...sending.background],
      onDrain: () => waiters.drain(),
    }
  },
})

async function openOutbound(config: DispatcherConfig): Promise<Outbound> {
  const ca = config.webhookCaFile === undefined ? undefined : await readFile(config.webhookCaFile, 'utf8')
  return createOutbound({
    allowedCidrs: config.webhookAllowedCidrs,
    allowHttp: config.webhookAllowHttp,
    // Webhooks of several tenants may call one host, so none may wait for a connection another one holds: how many
    // there are is for the sender to decide.
    connectionsPerOrigin: config.webhookConcurrency + config.webhookRetryConcurrency + maxSlow,
    ...(ca !== undefined && { ca }),
  })
}

function settingsClient({ config, issuer }: Context): ServiceClient {
  return serviceClient({
    baseUrl: urlOfService(config, 'settings'),
    audience: 'settings',
    issuer,
    timeoutMs: settingsTimeoutMs,
  })
}

/** Sends deliveries, and makes the routes of what is sent and of webhooks. */
function startSending(ctx: Context, outbound: Outbound, settings: ServiceClient): Sending {
  const { config, database, store, clock, log, relay, cursors, link, names } = ctx
  const sealer = createSealer(config.opsplaneMasterKey, config.opsplanePreviousMasterKeys)
  log.info({ keyIds: sealer.keyIds }, 'master keys, the present one first')
  const vault = createVault(database.db, sealer)
  const aggregate = webhookAggregate(store)
  const nowMs = () => Date.parse(clock.now())
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
  const consumer = consumeEvents({
    database,
    link,
    names,
    log,
    durable: fanOutConsumer,
    // Deliveries are unique by event and webhook, so they are committed by themselves: the first attempt
    // starts before the batch's checkpoint is written, and a repeated batch changes nothing.
    perform: (events, places) => dispatch.fanOut(events, places),
  })
  return {
    background: [{ close: () => dispatch.close(config.webhookStopGraceMs) }, replays, retention, consumer],
    routes: [
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
    ],
  }
}

interface Sending {
  routes: Route[]
  background: BackgroundWork[]
}
