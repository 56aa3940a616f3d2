import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { matchesSomeEvent } from '@opsplane/contracts'
import {
  createCauseSigner,
  createSecretTargets,
  createSecretValues,
  type Outbound,
  openOutbound,
} from '@opsplane/http'
import { createChangedSignals, publishHint, streamSequences } from '@opsplane/nats'
import { createVault, grantBudgetLeases } from '@opsplane/postgres'
import {
  type Budgets,
  createBudgets,
  createLimits,
  createSealer,
  type LimitName,
  type Limits,
} from '@opsplane/runtime'
import {
  createSubscriptionRules,
  defineService,
  dependentsRoute,
  openServiceClient,
  type ServiceContext,
  type ServiceOverrides,
} from '@opsplane/service'
import { catalogRoutes } from './catalog/routes.js'
import { type DispatcherConfig, loadConfig } from './config.js'
import { deliveryChangeRoutes } from './delivery/changes.js'
import { createDeliveryStore } from './delivery/delivery-store.js'
import { startDispatch } from './delivery/dispatch.js'
import { queueLimits, type Share } from './delivery/enqueue/delivery-queues.js'
import { toArrivedEvents } from './delivery/events/batch.js'
import { measureFirstLag } from './delivery/measure/first-lag.js'
import { registerQueueMetrics } from './delivery/measure/queue-metrics.js'
import { watchDeliveries } from './delivery/measure/watch.js'
import { createPing } from './delivery/ping.js'
import { resend, resendLog } from './delivery/resend/resend-log.js'
import { resendRoutes } from './delivery/resend/resend-routes.js'
import { createDeliveryDays } from './delivery/retention/delivery-days.js'
import { startRetention } from './delivery/retention/retention.js'
import { deliveryRoutes } from './delivery/routes.js'
import { createAttempt } from './delivery/send/attempt.js'
import { replay, replayLog } from './replay/replay-log.js'
import { replayRoutes } from './replay/routes.js'
import { replayWork, replayWorkName } from './replay/runner.js'
import { topicRoutes } from './topic/routes.js'
import { createTopics } from './topic/topics.js'
import { Waiters } from './topic/waiters.js'
import { dependentWebhooks } from './webhook/dependents.js'
import { webhook } from './webhook/domain.js'
import { pingRoutes } from './webhook/ping-routes.js'
import { watchRights } from './webhook/rights-watch.js'
import { rotateRoutes } from './webhook/rotate-routes.js'
import { webhookRoutes } from './webhook/routes.js'
import { createCredentials } from './webhook/sealing.js'
import { waitingWebhooksRoute } from './webhook/waiting-webhooks.js'
import { webhookAggregate } from './webhook/webhook-store.js'

export { findLateWebhooks, type WaitingWebhook } from './webhook/waiting-webhooks.js'

const fanOutConsumer = 'dispatcher-delivery-fanout'
/**
 * While some batches wait for their attempts and their rows, which share statements, the
 * attempts of the next one start.
 */
const batchesInFlight = 16
const secretsKeptMs = 10_000

type Context = ServiceContext<DispatcherConfig>

/** Dependencies that tests replace. */
export interface DispatcherOverrides extends ServiceOverrides {
  /** Decides which subscription entries are accepted; by default those that match the event catalogue. */
  matchesSomeEvent?: (pattern: string) => boolean
}

export const dispatcher = defineService<DispatcherConfig, DispatcherOverrides>({
  name: 'dispatcher',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [webhook, resend, replay],
  async setup(ctx, { streams, ...overrides }) {
    const { link, names, log, config } = ctx
    const waiters = new Waiters()
    ctx.metrics.gather(() => [{ name: 'opsplane_topic_polls_waiting', value: waiters.size }])
    const limits = createLimits(config)
    const budgets = openBudgets(ctx, limits)
    const topics = createTopics({ link, names, waiters, log, budgets, ...(streams && { streams }) })
    const outbound = await outboundOf(config)
    const sending = startSending(ctx, { outbound, limits, budgets, matchesSomeEvent, ...overrides })
    return {
      routes: [...topicRoutes(topics), ...sending.routes, ...catalogRoutes(ctx)],
      background: [outbound, topics, ...sending.background],
      onDrain: () => waiters.drain(),
    }
  },
})

const outboundOf = (config: DispatcherConfig): Promise<Outbound> =>
  openOutbound({
    caFile: config.webhookCaFile,
    allowedCidrs: config.webhookAllowedCidrs,
    deniedCidrs: config.webhookDeniedCidrs,
    allowHttp: config.webhookAllowHttp,
    // Webhooks of several tenants may call one host, and none may wait for a connection used by another. Concurrency is
    // limited by the queues instead.
    connectionsPerOrigin: config.webhookConcurrency + config.webhookRetryConcurrency + queueLimits.maxSlow,
  })

function openBudgets({ config, database }: Context, limits: Limits): Budgets {
  const owner = `${config.instanceId}:${randomUUID()}`
  return createBudgets({
    limits,
    grant: (requests) => grantBudgetLeases(database.sql, owner, requests),
    monotonicMs: () => performance.now(),
  })
}

interface SendingOptions extends Required<Pick<DispatcherOverrides, 'matchesSomeEvent'>> {
  outbound: Outbound
  limits: Limits
  budgets: Budgets
}

/** Starts sending deliveries, and returns the routes of deliveries and webhooks. */
function startSending(ctx: Context, { outbound, limits, budgets, matchesSomeEvent }: SendingOptions) {
  const { config, database, store, clock, log, relay, cursors, link, names, metrics, tracing } = ctx
  const settings = openServiceClient(ctx, 'settings')
  const studio = openServiceClient(ctx, 'database-studio')
  const rules = createSubscriptionRules(studio)
  const sealer = createSealer(config.opsplaneMasterKey, config.opsplanePreviousMasterKeys)
  log.info({ keyIds: sealer.keyIds }, 'master keys, the present one first')
  const vault = createVault(database.db, sealer)
  const aggregate = webhookAggregate(store)
  const nowMs = () => Date.parse(clock.now())
  const attempt = createAttempt({
    outbound,
    credentials: createCredentials(vault, nowMs),
    resolveSecrets: createSecretValues({ source: settings, keptMs: secretsKeptMs, now: nowMs }),
    budgets,
    signCause: createCauseSigner({ service: 'dispatcher', privateKey: config.servicePrivateKey }),
    nowMs,
  })
  const days = createDeliveryDays(database.sql)
  const keptDays = config.webhookRetentionDays
  const heldDays = config.webhookHeldRetentionDays
  const retention = startRetention({ database, days, log, nowMs, random: Math.random, keptDays, heldDays })
  const sequences = streamSequences(link, names.eventsStream)
  const now = () => performance.now()
  const lag = measureFirstLag({ metrics, nowMs, now })
  const signals = createChangedSignals({
    ...{ names, type: 'delivery' },
    publish: (subject, payload) => publishHint(link, subject, payload),
  })
  const { changed } = signals
  const deliveries = createDeliveryStore({
    ...{ database, days, store, webhooks: aggregate, clock, changed },
    ...{ owner: ownerOf(config), consumer: fanOutConsumer },
  })
  const dispatch = startDispatch({
    ...{ deliveries, keptDays, log, nowMs },
    lowWatermark: () => sequences.lowWatermark(fanOutConsumer),
    attempt,
    watch: watchDeliveries({ metrics, tracing, lag, log, now }),
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
    share: (workspaceId) => shareOf(limits, workspaceId),
  })
  registerQueueMetrics(metrics, { database, passedOver: dispatch.passedOver })
  const { wake, refresh: onChange } = dispatch
  const announce = relay.wake
  const record = replayLog(store)
  const perSecond = config.webhookDrainPerSecond
  ctx.dueWork.start(replayWork({ record, days, nowMs, perSecond, wake, announce }))
  const consumer = ctx.consume({
    durable: fanOutConsumer,
    batchesInFlight,
    // Deliveries are unique by event and webhook and are committed in their own transaction: a
    // repeated batch changes nothing.
    performLazily: (events, { origins, sequences }) =>
      dispatch.fanOut(toArrivedEvents(events, origins), sequences),
    // The positions of all events are stored, so that webhooks created later do not receive them.
    verifyAll: true,
  })
  return {
    background: [
      settings,
      studio,
      signals,
      { close: () => dispatch.close(config.webhookStopGraceMs) },
      retention,
      consumer,
      ...watchRights(ctx, { aggregate, settings, rules, onChange }),
    ],
    routes: [
      ...webhookRoutes({
        ...{ database, cursors, vault, outbound, aggregate, limits, rules, matchesSomeEvent, onChange },
        secretTargets: createSecretTargets(settings),
      }),
      ...rotateRoutes({ database, store, vault, aggregate, onChange }),
      ...deliveryRoutes({ database, aggregate, rules, cursors }),
      ...deliveryChangeRoutes(database),
      ...resendRoutes({ database, days, nowMs, record: resendLog(store), changed, wake, announce }),
      ...replayRoutes({
        ...{ database, aggregate, cursors, nowMs, record, announce },
        kick: () => ctx.dueWork.wake(replayWorkName),
      }),
      dependentsRoute(database, [dependentWebhooks]),
      waitingWebhooksRoute(database),
      ...pingRoutes(createPing({ aggregate, attempt })),
    ],
  }
}

/** A limit of 0 means unlimited. */
function shareOf(limits: Limits, workspaceId: string): Share {
  const findLimit = (name: LimitName) => limits.of(name, workspaceId) || Number.POSITIVE_INFINITY
  return {
    attempts: findLimit('attempts'),
    slow: findLimit('slowAttempts'),
    queued: findLimit('queuedDeliveries'),
    bytes: findLimit('deliveryBytes'),
  }
}

/** With a configured port, the name stays the same after a restart and differs from other replicas on this host. */
function ownerOf({ instanceId, port }: DispatcherConfig): string {
  return `${instanceId}:${port === 0 ? randomUUID() : port}`
}
