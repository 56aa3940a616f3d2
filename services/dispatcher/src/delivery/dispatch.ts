import { setMaxListeners } from 'node:events'
import { type DeliveryBody, deliveryBody, PlatformEvent } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { Target, WebhookRow } from '../webhook/target.js'
import type { AttemptRecord, AttemptResult, MakeAttempt } from './attempt.js'
import { createBookings } from './book-slots.js'
import { type Claimed, failWithoutEvent, releaseLeases } from './claim-statement.js'
import type { DeliveryDays } from './delivery-days.js'
import { type AttemptOutcome, afterAttempt } from './domain.js'
import { createFanOut } from './fan-out.js'
import { createPacer } from './pacer.js'
import { type Poller, startPoller } from './poller.js'
import type { ResultRow } from './record-statement.js'
import { createRecorder, type RecorderOptions } from './recorder.js'
import { createSender, type EndpointMood, type Job } from './sender.js'
import { startTurns } from './turns.js'

interface DeliveryJob extends Job {
  target: Target
  body: DeliveryBody
  attempts: number
  cycleBase: number
  /** Of a delivery that is sent in order: others may wait for its end. */
  orderingKey: string | null
}

export interface DispatchOptions extends Omit<RecorderOptions, 'onPaused'> {
  database: Database
  days: DeliveryDays
  /** Days the deliveries of a day are kept: older events are not delivered. */
  keptDays: number
  /** Days unfinished ones are kept. */
  heldDays: number
  /** Names this replica on leases. */
  owner: string
  attempt: MakeAttempt
  targetOf(row: WebhookRow): Target
  /** Up to this place of the stream every event has been fanned out, by whichever replica. */
  floor(): Promise<string>
  nowMs(): number
  random(): number
  log: Logger
  leaseMs: number
  drainPerSecond: number
  jitter: number
  concurrency: { first: number; retry: number; endpoint: number }
}

export interface Dispatch {
  /** Makes and sends the deliveries of a batch of events, whose places in the stream can be asked. Safe to repeat. */
  fanOut(events: PlatformEvent[], places: () => Promise<string[]>): Promise<void>
  /** The webhook was changed, paused or deleted: what is queued for it is taken up anew. */
  refresh(webhookId: string): Promise<void>
  /** There is a delivery that is due now, or waits for its turn. */
  wake(): void
  /** The webhook was resumed. */
  drain(): void
  /** Finishes attempts under way for up to `graceMs`, gives the rest back. */
  close(graceMs: number): Promise<void>
}

/** While settings is away, an attempt that needs it is put off so long. */
const postponeMs = 5_000
const bodyStartBytes = 16 * 1024
const maxQueued = 20_000
/** Results waiting to be recorded beyond which attempts wait for their record. */
const maxUnrecorded = 1_000
/** Attempts under way that take longer than `slowAfterMs`. */
export const maxSlow = 4_096
const slowAfterMs = 1_000

/** Sending: the queues in memory, the poller that feeds them from Postgres, and the recorder of results. */
export function startDispatch(options: DispatchOptions): Dispatch {
  const { database, owner, nowMs, leaseMs, log } = options
  const stopping = new AbortController()
  // Every attempt under way listens.
  setMaxListeners(0, stopping.signal)
  const recorder = createRecorder({ ...options, onPaused: (ids) => void forEach(ids, refresh) })
  const wake = () => poller.wakeAt(nowMs())
  const pacer = createPacer({
    book: createBookings(database.sql),
    leaseMs,
    now: nowMs,
    after,
    onSlot: (webhookId) => sender.resume(webhookId),
    onClosed: (webhookId) => void forEach([webhookId], giveBack),
    onOpen: wake,
    log,
  })
  const sender = createSender<DeliveryJob>({
    concurrency: options.concurrency,
    endpointConcurrency: options.concurrency.endpoint,
    maxQueued,
    maxSlow,
    slowAfterMs,
    now: nowMs,
    run,
    pacer,
    onRoom: wake,
  })
  const poller: Poller = startPoller({
    ...options,
    full: sender.full,
    hasRoom: sender.hasRoom,
    accept,
    waits: (lines) => turns.ask(lines),
  })
  const turns = startTurns({ ...options, sql: database.sql, onGiven: wake })
  const fanOut = createFanOut({
    ...options,
    reserve: sender.reserve,
    release: sender.release,
    submit: ({ deliveryId, target, body }) =>
      sender.submit(
        jobOf(deliveryId, target, body, { attempts: 0, cycleBase: 0, orderingKey: null, lane: 'first' }),
      ),
    waits: turns.ask,
  })

  function jobOf(
    deliveryId: string,
    target: Target,
    body: DeliveryBody,
    rest: Pick<DeliveryJob, 'attempts' | 'cycleBase' | 'orderingKey' | 'lane'>,
  ): DeliveryJob {
    // An attempt that starts by then ends, and is recorded, before the lease does.
    const sendBefore = nowMs() + leaseMs * 0.9
    return { deliveryId, webhookId: target.id, target, body, sendBefore, ...rest }
  }

  async function run(job: DeliveryJob): Promise<EndpointMood> {
    const result = await options.attempt(job.target, job.body, stopping.signal)
    const row = resultRow(job, result)
    const gone = result.kind === 'attempted' && isGone(result.outcome)
    const mood = moodOf(result)
    const recorded = recorder.add({ row, target: job.target, eventId: job.body.id, gone })
    // A healthy endpoint's next attempt need not wait for the statement that records this one.
    if (mood !== 'well' || recorder.pending() > maxUnrecorded) await recorded
    if (row.due_at !== null) poller.wakeAt(row.due_at)
    else if (job.orderingKey !== null) void recorded.then(() => nextOf(job.webhookId, job.orderingKey))
    return mood
  }

  /** A delivery is finished, so the next one of its key has its turn. */
  function nextOf(webhookId: string, key: string | null) {
    if (key !== null) turns.ask([{ webhookId, key }])
  }

  function resultRow(job: DeliveryJob, result: AttemptResult): Omit<ResultRow, 'seq'> {
    const number = job.attempts + 1
    if (result.kind === 'postponed') {
      if (!stopping.signal.aborted)
        log.warn({ err: result.reason, deliveryId: job.deliveryId }, 'attempt postponed')
      const due = stopping.signal.aborted ? nowMs() : nowMs() + postponeMs
      return { ...emptyRow(job, number), status: 'postponed', due_at: due }
    }
    const chance = { jitter: options.jitter, random: options.random() }
    const verdict = afterAttempt(result.outcome, job.target, number - job.cycleBase, chance)
    const due = verdict.status === 'retrying' ? nowMs() + verdict.delayMs : null
    return { ...emptyRow(job, number), ...recordColumns(result.record), status: verdict.status, due_at: due }
  }

  async function accept(claimed: Claimed[]): Promise<void> {
    const refused: string[] = []
    const withoutEvent: Claimed[] = []
    for (const row of claimed) {
      if (row.status === 'failed') nextOf(row.webhook_id, row.ordering_key)
      if (row.lease_ends === null || row.webhook === null) continue
      const event = PlatformEvent.safeParse(JSON.parse(row.event ?? 'null'))
      if (!event.success) {
        log.error({ err: event.error, deliveryId: row.id }, 'the event of a delivery is not readable')
        withoutEvent.push(row)
        continue
      }
      const target = options.targetOf(row.webhook)
      if (!sender.reserve(row.webhook_id, target.rateLimitPerSecond ?? undefined)) {
        refused.push(row.id)
        continue
      }
      const body = deliveryBody(event.data, target.id)
      const lane = row.attempts > row.cycle_base ? 'retry' : 'first'
      const { attempts, cycle_base: cycleBase, ordering_key: orderingKey } = row
      sender.submit(jobOf(row.id, target, body, { attempts, cycleBase, orderingKey, lane }))
    }
    await releaseLeases(database.sql, owner, refused, nowMs())
    const unsendable = withoutEvent.map(({ id }) => id)
    await failWithoutEvent(database.sql, owner, unsendable)
    for (const row of withoutEvent) nextOf(row.webhook_id, row.ordering_key)
  }

  async function refresh(webhookId: string): Promise<void> {
    await giveBack(webhookId)
    pacer.refresh(webhookId)
    wake()
  }

  async function giveBack(webhookId: string): Promise<void> {
    const jobs = sender.discard(webhookId)
    await releaseLeases(
      database.sql,
      owner,
      jobs.map(({ deliveryId }) => deliveryId),
      nowMs(),
    )
  }

  async function forEach(webhookIds: string[], step: (webhookId: string) => Promise<void>) {
    try {
      for (const webhookId of webhookIds) await step(webhookId)
    } catch (error) {
      log.warn({ err: error, webhookIds }, 'leases are left to end by themselves')
    }
  }

  return {
    fanOut,
    refresh,
    wake() {
      wake()
      turns.sweep()
    },
    drain: poller.drain,
    async close(graceMs) {
      await turns.close()
      await poller.close()
      pacer.stop()
      const cut = setTimeout(() => stopping.abort(), graceMs)
      const left = await sender.stop()
      clearTimeout(cut)
      await recorder.close()
      await releaseLeases(
        database.sql,
        owner,
        left.map(({ deliveryId }) => deliveryId),
        nowMs(),
      )
    },
  }
}

function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

function isGone(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status === 410
}

function moodOf(result: AttemptResult): EndpointMood {
  if (result.kind === 'postponed') return 'busy'
  if (result.outcome.kind === 'failed') return 'unwell'
  return result.outcome.status === 429 || result.outcome.status === 503 ? 'busy' : 'well'
}

function emptyRow(job: DeliveryJob, number: number): Omit<ResultRow, 'seq' | 'status' | 'due_at'> {
  return {
    id: job.deliveryId,
    number,
    started_at: '',
    url: job.target.url,
    duration_ms: 0,
    request_headers: {},
    response_status: null,
    response_headers: null,
    response_body: null,
    body_start: null,
    response_truncated: null,
    error_kind: null,
    error_message: null,
  }
}

function recordColumns({ startedAt, durationMs, url, requestHeaders, response, error }: AttemptRecord) {
  return {
    started_at: startedAt,
    url,
    duration_ms: durationMs,
    request_headers: requestHeaders,
    response_status: response?.status ?? null,
    response_headers: response?.headers ?? null,
    response_body: response?.body ?? null,
    body_start: response && startOf(response.body),
    response_truncated: response?.truncated ?? null,
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? null,
  }
}

/** Cut in bytes: a cut between the halves of a surrogate pair is text that Postgres refuses. */
function startOf(body: string): string {
  const bytes = Buffer.from(body)
  return bytes.length > bodyStartBytes ? bytes.subarray(0, bodyStartBytes).toString() : body
}
