import { setMaxListeners } from 'node:events'
import type { TenantScope } from '@opsplane/contracts'
import { systemTimers, type Timers } from '@opsplane/runtime'
import type { DeliveryStore } from './delivery-store.js'
import { createDeliveryQueues, queueLimits, type Share } from './enqueue/delivery-queues.js'
import { DueSignal } from './enqueue/due-signal.js'
import { createEnqueue } from './enqueue/enqueue.js'
import { reclaimOwn, releaseJobs } from './enqueue/leases.js'
import { startPoller } from './enqueue/poller.js'
import { type ArrivedEvent, findTenants, readBatch } from './events/batch.js'
import type { DeliveryJob } from './job.js'
import { type DeliveryDraft, draftDeliveries, keepStarted } from './match/delivery-drafts.js'
import { createWebhookIndex } from './match/webhook-index.js'
import type { DeliveryWatch } from './measure/watch.js'
import { startOrderingQueues } from './ordering/ordering-queues.js'
import { createRateLimitScheduler } from './rate-limit/rate-limit-scheduler.js'
import { record } from './record/record.js'
import { createResultRecorder, type ResultRecorderOptions } from './record/result-recorder.js'
import type { MakeAttempt } from './send/attempt.js'
import { send } from './send/send.js'

export interface DispatchOptions extends Pick<ResultRecorderOptions, 'announce' | 'log'> {
  deliveries: DeliveryStore
  /** Retention of deliveries in days: older events are not delivered. */
  keptDays: number
  attempt: MakeAttempt
  /** Sequence in the stream up to which every event has been fanned out, by any replica. */
  lowWatermark(): Promise<string>
  /** Unix milliseconds. */
  nowMs(): number
  random(): number
  /** Measures deliveries and tracks their attempts. */
  watch: DeliveryWatch
  leaseMs: number
  drainPerSecond: number
  jitter: number
  concurrency: { first: number; retry: number; endpoint: number }
  /** One workspace's limits on the queues and attempts of this replica. */
  share(workspaceId: string): Share
  timers?: Timers
}

export interface Dispatch {
  /**
   * Creates and sends the deliveries of a batch of events. `sequences` returns their
   * sequences in the stream. Idempotent.
   */
  fanOut(arrivedEvents: ArrivedEvent[], sequences: () => Promise<string[]>): Promise<void>
  /** Reloads the queue of a webhook of this tenant after the webhook was changed, paused, resumed or deleted. */
  refresh(webhookId: string, tenant: TenantScope): void
  /** A delivery is due now, or waits in an ordering queue. */
  wake(): void
  /** Webhooks that the poller skips, because they or their workspaces have reached their limits in memory. */
  passedOver(): string[]
  /** Waits up to `graceMs` for attempts in flight and releases all other deliveries. */
  close(graceMs: number): Promise<void>
}

const maxTries = 20

/**
 * The stages of a delivery: events → match → enqueue and, when it is its turn, send → record. Deliveries that wait in
 * Postgres, such as retries, are enqueued by the poller, which `due` wakes.
 */
export function startDispatch(options: DispatchOptions): Dispatch {
  const { deliveries, concurrency, timers = systemTimers } = options
  const { book, record: recordBatch, insert } = deliveries
  const stopping = new AbortController()
  const closing = new AbortController()
  // Every attempt in flight adds a listener.
  setMaxListeners(0, stopping.signal)
  const due = new DueSignal(timers)
  const shared = {
    ...options,
    timers,
    now: timers.now,
    after: createAfter(timers),
    due,
    stopping: stopping.signal,
  }
  // Runs before the first lease: deliveries leased by an earlier process with this name become due again.
  const reclaimed = reclaimOwn(shared, closing.signal)

  // events
  async function fanOut(arrivedEvents: ArrivedEvent[], sequences: () => Promise<string[]>): Promise<void> {
    await reclaimed
    const tenants = findTenants(arrivedEvents)
    let drafts: DeliveryDraft[] = []
    for (let tries = 0; tries < maxTries; tries++) {
      const batch = readBatch(arrivedEvents, await webhooks.of(tenants))
      drafts = keepStarted(drafts, draftDeliveries(batch, shared))
      if (await enqueue(drafts, batch, sequences)) return
      webhooks.forget(tenants)
    }
    throw new Error('webhooks change faster than events are fanned out')
  }
  // match
  const webhooks = createWebhookIndex(shared)
  // enqueue
  const ordering = startOrderingQueues(shared)
  const scheduler = createRateLimitScheduler({
    ...{ ...shared, book },
    onSlot: (webhookId) => queues.resume(webhookId),
    onClosed: (webhookId) => void returnQueued(webhookId),
  })
  const queues = createDeliveryQueues<DeliveryJob>({
    ...{ ...shared, ...queueLimits, endpointConcurrency: concurrency.endpoint, scheduler },
    deliver: async (job) => record(job, await send(job, shared), recording),
  })
  const { enqueue, close: stopFirstAttempts } = createEnqueue({ ...shared, insert, queues, ordering })
  const poller = startPoller({ ...shared, queues, ordering, reclaimed })
  // send, record
  const recorder = createResultRecorder({ ...shared, record: recordBatch })
  const recording = { ...shared, recorder, ordering, webhooks, returnQueued }

  /** Releases the queued jobs of a webhook back to Postgres. */
  function returnQueued(webhookId: string): Promise<void> {
    return releaseJobs(queues.discard(webhookId), shared)
  }

  return {
    fanOut,
    refresh(webhookId, tenant) {
      webhooks.forget([tenant])
      // Not awaited: the change completes whether or not the leases are released.
      void returnQueued(webhookId).then(() => due.wakeIn(0))
      scheduler.refresh(webhookId)
      ordering.sweep()
      due.wakeIn(0)
    },
    wake() {
      due.wakeIn(0)
      ordering.sweep()
    },
    passedOver: queues.full,
    async close(graceMs) {
      await ordering.close()
      // The poller waits until old leases are reclaimed; if Postgres is unavailable, it would wait for ever.
      closing.abort()
      await poller.close()
      scheduler.stop()
      const cut = timers.setTimeout(() => {
        stopping.abort()
        stopFirstAttempts()
      }, graceMs)
      const left = await queues.stop()
      timers.clearTimeout(cut)
      stopFirstAttempts()
      await recorder.close()
      await releaseJobs(
        left.filter(({ first }) => first === undefined || first.made),
        shared,
      )
    },
  }
}

const createAfter = (timers: Timers) => (ms: number, callback: () => void) => {
  const timer = timers.setTimeout(callback, ms)
  return () => timers.clearTimeout(timer)
}
