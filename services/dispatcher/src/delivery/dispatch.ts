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
  /** Days the deliveries of a day are kept: older events are not delivered. */
  keptDays: number
  attempt: MakeAttempt
  /** Up to this sequence of the stream every event has been fanned out, by whichever replica. */
  lowWatermark(): Promise<string>
  /** Unix milliseconds. */
  nowMs(): number
  random(): number
  /** Measures deliveries and follows their attempts. */
  watch: DeliveryWatch
  leaseMs: number
  drainPerSecond: number
  jitter: number
  concurrency: { first: number; retry: number; endpoint: number }
  /** What one workspace may have of the queues and attempts of this replica. */
  share(workspaceId: string): Share
  timers?: Timers
}

export interface Dispatch {
  /** Makes and sends the deliveries of a batch of events, whose sequences in the stream can be asked. Safe to repeat. */
  fanOut(arrived: ArrivedEvent[], sequences: () => Promise<string[]>): Promise<void>
  /** A webhook of this tenant was changed, paused, resumed or deleted: its queue is loaded again. */
  refresh(webhookId: string, tenant: TenantScope): void
  /** There is a delivery that is due now, or waits in an ordering queue. */
  wake(): void
  /** Webhooks whose deliveries this replica leaves in Postgres, for what they or their workspaces have in memory already. */
  passedOver(): string[]
  /** Finishes attempts in flight for up to `graceMs`, gives the rest back. */
  close(graceMs: number): Promise<void>
}

const maxTries = 20

/**
 * The path of a delivery: events → match → enqueue and, once it is its turn, send → record. What waits in Postgres, such as a
 * retry, is enqueued by the poller, which `due` wakes.
 */
export function startDispatch(options: DispatchOptions): Dispatch {
  const { deliveries, concurrency, timers = systemTimers } = options
  const { book, record: recordBatch, insert } = deliveries
  const stopping = new AbortController()
  const closing = new AbortController()
  // Every attempt in flight listens.
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
  // Before anything is leased: what a process of this name left behind is due again.
  const reclaimed = reclaimOwn(shared, closing.signal)

  // events
  async function fanOut(arrived: ArrivedEvent[], sequences: () => Promise<string[]>): Promise<void> {
    await reclaimed
    const tenants = findTenants(arrived)
    let drafts: DeliveryDraft[] = []
    for (let tries = 0; tries < maxTries; tries++) {
      const batch = readBatch(arrived, await webhooks.of(tenants))
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

  /** Returns what is queued for a webhook to Postgres. */
  function returnQueued(webhookId: string): Promise<void> {
    return releaseJobs(queues.discard(webhookId), shared)
  }

  return {
    fanOut,
    refresh(webhookId, tenant) {
      webhooks.forget([tenant])
      // Not waited for: the change is answered whatever becomes of the leases.
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
      // The poller begins once leases are taken back, which while Postgres is away would be never.
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
