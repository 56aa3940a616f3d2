import { setMaxListeners } from 'node:events'
import type { TenantScope } from '@opsplane/contracts'
import { delay, retryDelayMs, systemTimers, type Timers } from '@opsplane/runtime'
import type { MakeAttempt } from './attempt/attempt.js'
import { createRateLimitScheduler } from './attempt/rate-limit-scheduler.js'
import type { AttemptRecording } from './attempt/record-results.js'
import { createResultRecorder, type ResultRecorderOptions } from './attempt/result-recorder.js'
import { buildResult, toEndpointHealth } from './attempt/result-row.js'
import type { DeliveryStore } from './delivery-store.js'
import type { FirstLag } from './first-lag.js'
import type { DeliveryJob } from './job.js'
import { createNotifier } from './notifier.js'
import { startOrderingQueues } from './ordering/ordering-queues.js'
import { createAcceptJobs } from './queue/claimed-jobs.js'
import { createFanOut } from './queue/fan-out.js'
import type { ArrivedEvent } from './queue/fan-out-batch.js'
import { startPoller } from './queue/poller.js'
import { createSender, type EndpointHealth, type Share } from './queue/sender.js'
import { createWebhookIndex } from './queue/webhook-index.js'
import type { Watch } from './watch.js'

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
  /** Measures and follows attempts. */
  watch: Watch
  /** Measures those that wait in Postgres. */
  lag: Pick<FirstLag, 'left'>
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

const maxQueued = 20_000
/** Bodies in memory, queued or in flight. */
const maxBytes = 64 * 1024 * 1024
/** Results waiting to be recorded beyond which attempts wait for their record. */
const maxUnrecorded = 1_000
/** Attempts in flight that take longer than `slowAfterMs`. */
export const maxSlow = 4_096
const slowAfterMs = 1_000

/**
 * Sending: the queues in memory, the poller that feeds them from Postgres, and the recorder of results. Each part is made of
 * those above it; what wakes a part above goes by a signal.
 */
export function startDispatch(options: DispatchOptions): Dispatch {
  const { deliveries, leaseMs, log, timers = systemTimers } = options
  const { now } = timers
  const stopping = new AbortController()
  const closing = new AbortController()
  // Every attempt in flight listens.
  setMaxListeners(0, stopping.signal)
  /** Something is due in so many milliseconds. */
  const due = createNotifier<[inMs: number]>()
  /** A webhook with a rate limit may have another attempt. */
  const slot = createNotifier<[webhookId: string]>()
  /** What is queued for these is better off in Postgres. */
  const closed = createNotifier<[webhookIds: string[]]>()
  /** A delivery is finished, and the next one of its ordering key may go. */
  const finished = createNotifier<[webhookId: string, orderingKey: string | null]>()
  const dueNow = () => due.emit(0)
  const after = (ms: number, callback: () => void) => {
    const timer = timers.setTimeout(callback, ms)
    return () => timers.clearTimeout(timer)
  }

  const index = createWebhookIndex({ deliveries, now })
  const recorder = createResultRecorder({
    ...{ ...options, timers, record: deliveries.record, stopping: stopping.signal },
    onPaused(targets) {
      index.forget(targets.map(({ tenant }) => tenant))
      closed.emit(targets.map(({ id }) => id))
    },
  })
  const scheduler = createRateLimitScheduler({
    ...{ book: deliveries.book, leaseMs, now, after, log },
    ...{ onSlot: slot.emit, onClosed: (webhookId) => closed.emit([webhookId]), onOpen: dueNow },
  })
  const run = createRun({
    ...options,
    ...{ recorder, now },
    due: due.emit,
    finished: finished.emit,
    stopping: stopping.signal,
  })
  const sender = createSender<DeliveryJob>({
    concurrency: options.concurrency,
    endpointConcurrency: options.concurrency.endpoint,
    ...{ maxQueued, maxBytes, maxSlow, slowAfterMs, timers, run, scheduler },
    share: options.share,
    onRoom: dueNow,
  })
  // Before anything is leased: what a process of this name left behind is due again.
  const retaken = retake({ deliveries, log, timers }, closing.signal)
  const accept = createAcceptJobs({ deliveries, leaseMs, sender, finished: finished.emit })
  const poller = startPoller({
    ...{ ...options, timers },
    begin: retaken,
    full: sender.full,
    room: sender.room,
    accept,
  })
  const orderingQueues = startOrderingQueues({ ...options, timers, onReleased: dueNow })
  const { reserve, release, submit } = sender
  const { fanOut, close: letGo } = createFanOut({
    ...{ ...options, now, after, index, reserve, release, submit, insert: deliveries.insert },
    waits: orderingQueues.ask,
    left: dueNow,
    onLeft: options.lag.left,
  })

  due.listen(poller.wakeIn)
  slot.listen(sender.resume)
  closed.listen((webhookIds) => {
    void giveBack(webhookIds.flatMap((webhookId) => sender.discard(webhookId)))
  })
  finished.listen((webhookId, key) => {
    if (key !== null) orderingQueues.ask([{ webhookId, key }])
  })

  /** What has no row yet cannot be given back before it has. */
  async function giveBack(jobs: readonly DeliveryJob[]): Promise<void> {
    await Promise.all(jobs.map(({ first }) => first?.settled))
    const ids = jobs.map(({ deliveryId }) => deliveryId)
    try {
      await deliveries.release(ids)
    } catch (error) {
      log.warn(
        { err: error, deliveries: ids.length },
        'leases of queued deliveries could not be released; they expire by themselves',
      )
    }
  }

  return {
    async fanOut(arrived, sequences) {
      await retaken
      await fanOut(arrived, sequences)
    },
    refresh(webhookId, tenant) {
      index.forget([tenant])
      // Not waited for: the change is answered whatever becomes of the leases.
      void giveBack(sender.discard(webhookId)).then(dueNow)
      scheduler.refresh(webhookId)
      orderingQueues.sweep()
      dueNow()
    },
    wake() {
      dueNow()
      orderingQueues.sweep()
    },
    passedOver: sender.full,
    async close(graceMs) {
      await orderingQueues.close()
      // The poller begins once leases are taken back, which while Postgres is away would be never.
      closing.abort()
      await poller.close()
      scheduler.stop()
      const cut = timers.setTimeout(() => {
        stopping.abort()
        letGo()
      }, graceMs)
      const left = await sender.stop()
      timers.clearTimeout(cut)
      letGo()
      await recorder.close()
      await giveBack(left.filter(({ first }) => first === undefined || first.made))
    },
  }
}

interface RunOptions extends Pick<DispatchOptions, 'attempt' | 'watch' | 'log' | 'jitter' | 'random'> {
  recorder: ReturnType<typeof createResultRecorder>
  now(): number
  due(inMs: number): void
  finished(webhookId: string, orderingKey: string | null): void
  stopping: AbortSignal
}

/** One attempt, from the request to its record. */
function createRun(options: RunOptions) {
  const { recorder, now, stopping } = options

  /** A first attempt that succeeded before its row was written goes into that very statement. */
  async function record(job: DeliveryJob, result: AttemptRecording): Promise<void> {
    const { first } = job
    if (first) {
      if (result.row.status === 'succeeded') first.columns = result.row
      first.end()
      if (!(await first.settled)) return
    }
    // With its lease it has lapsed: it is due by itself, and another replica may be sending it.
    if (result.row.status === 'postponed' && now() > job.sendBefore + job.target.timeoutMs) return
    await recorder.add(result)
    if (result.row.due_in_ms !== null) options.due(result.row.due_in_ms)
    else options.finished(job.webhookId, job.orderingKey)
  }

  return async (job: DeliveryJob): Promise<EndpointHealth> => {
    const watched = options.watch(job)
    const isInTime = () => now() < job.sendBefore
    const attempted = await options.attempt(job.target, watched.content, stopping, isInTime)
    const result = buildResult(job, attempted, options)
    watched.over(result.row.status)
    const health = toEndpointHealth(attempted)
    const recorded = record(job, result)
    // A healthy endpoint's next attempt need not wait for the statement that records this one.
    if (health !== 'healthy' || recorder.pending() > maxUnrecorded) await recorded
    return health
  }
}

async function retake(
  { deliveries, log, timers }: Pick<DispatchOptions, 'deliveries' | 'log'> & { timers: Timers },
  closing: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !closing.aborted; attempt++) {
    try {
      return await deliveries.retake()
    } catch (error) {
      if (attempt === 1)
        log.warn(
          { err: error },
          'leases of an earlier process of this name cannot be taken back yet; trying again',
        )
      await delay(
        retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        closing,
        timers,
      )
    }
  }
}
