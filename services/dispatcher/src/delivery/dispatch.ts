import { setMaxListeners } from 'node:events'
import { ApiError, deliveryBody, type PlatformEvent, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { type Target, targetOf, type WebhookRow } from '../webhook/target.js'
import type { AttemptRecord, AttemptResult, Content, MakeAttempt } from './attempt/attempt.js'
import { createBookings } from './attempt/book-slots.js'
import { createPacer } from './attempt/pacer.js'
import type { ResultRow } from './attempt/record-statement.js'
import { createRecorder, type RecorderOptions, type Result } from './attempt/recorder.js'
import { type AttemptOutcome, afterAttempt } from './domain.js'
import { startTurns } from './ordering/turns.js'
import { createFanOut, type Incoming } from './queue/fan-out.js'
import type { Started } from './queue/first-attempts.js'
import { bodyText } from './queue/matching.js'
import { type Poller, startPoller } from './queue/poller.js'
import { type Claimed, failWithoutEvent, releaseLeases, retakeLeases } from './queue/queue-statements.js'
import { createSender, type EndpointMood, type Job, type Share } from './queue/sender.js'
import { createWebhookIndex } from './queue/webhook-index.js'
import type { DeliveryDays } from './retention/delivery-days.js'
import type { Watch } from './watch.js'

export interface DeliveryJob extends Job {
  target: Target
  content: Content
  attempts: number
  cycleBase: number
  /** Of a delivery that is sent in order: others may wait for its end. */
  orderingKey: string | null
  /** Of the event, where that is followed. */
  traceparent?: string | undefined
  /** Of a first attempt that does not wait for its row. */
  first?: Started
}

export interface DispatchOptions extends Omit<RecorderOptions, 'onPaused'> {
  database: Database
  days: DeliveryDays
  /** Days the deliveries of a day are kept: older events are not delivered. */
  keptDays: number
  /** Names this replica on leases: the same after a restart, which so takes back what it had. */
  owner: string
  /** The consumer that fans out. */
  consumer: string
  attempt: MakeAttempt
  /** Up to this place of the stream every event has been fanned out, by whichever replica. */
  floor(): Promise<string>
  /** Unix milliseconds. */
  nowMs(): number
  random(): number
  /** Measures and follows attempts. */
  watch: Watch
  log: Logger
  leaseMs: number
  drainPerSecond: number
  jitter: number
  concurrency: { first: number; retry: number; endpoint: number }
  /** What one workspace may have of the queues and attempts of this replica. */
  share(workspaceId: string): Share
}

export interface Dispatch {
  /** Makes and sends the deliveries of a batch of events, whose places in the stream can be asked. Safe to repeat. */
  fanOut(incoming: Incoming[], places: () => Promise<string[]>): Promise<void>
  /** A webhook of this tenant was changed, paused, resumed or deleted: what is queued for it is taken up anew. */
  refresh(webhookId: string, tenant: TenantScope): Promise<void>
  /** There is a delivery that is due now, or waits for its turn. */
  wake(): void
  /** Finishes attempts under way for up to `graceMs`, gives the rest back. */
  close(graceMs: number): Promise<void>
}

/** While settings is away, an attempt that needs it is put off so long. */
const postponeMs = 5_000
const maxTargets = 20_000
const bodyStartBytes = 16 * 1024
const maxQueued = 20_000
/** Bodies in memory, queued or under way. */
const maxBytes = 64 * 1024 * 1024
/** Results waiting to be recorded beyond which attempts wait for their record. */
const maxUnrecorded = 1_000
/** Attempts under way that take longer than `slowAfterMs`. */
export const maxSlow = 4_096
const slowAfterMs = 1_000

/** Sending: the queues in memory, the poller that feeds them from Postgres, and the recorder of results. */
export function startDispatch(options: DispatchOptions): Dispatch {
  const { database, owner, leaseMs, log } = options
  const now = () => performance.now()
  const index = createWebhookIndex({ sql: database.sql, now })
  const stopping = new AbortController()
  const targets = new Map<string, Target>()
  // Every attempt under way listens.
  setMaxListeners(0, stopping.signal)
  const recorder = createRecorder({ ...options, onPaused: (ids) => void forEach(ids, giveBack) })
  const wake = () => poller.wakeIn(0)
  const pacer = createPacer({
    book: createBookings(database.sql),
    leaseMs,
    now,
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
    maxBytes,
    maxSlow,
    slowAfterMs,
    share: options.share,
    now,
    run,
    pacer,
    onRoom: wake,
  })
  // Before anything is leased: what a process of this name left behind is due again.
  const retaken = retake()
  const poller: Poller = startPoller({
    ...options,
    begin: retaken,
    now,
    full: sender.full,
    room: sender.room,
    accept,
  })
  const turns = startTurns({ ...options, now, sql: database.sql, onGiven: wake })

  const fanOut = createFanOut({
    ...options,
    now,
    after,
    index,
    reserve: sender.reserve,
    release: sender.release,
    submit: sender.submit,
    waits: turns.ask,
    left: wake,
  })

  async function run(job: DeliveryJob): Promise<EndpointMood> {
    const watched = options.watch(job)
    const result = await watched.run(() => options.attempt(job.target, watched.content, stopping.signal))
    const row = resultRow(job, result)
    watched.over(row.status)
    const gone = result.kind === 'attempted' && isGone(result.outcome)
    const mood = moodOf(result)
    const recorded = record(job, { row, target: job.target, eventId: job.content.id, gone })
    // A healthy endpoint's next attempt need not wait for the statement that records this one.
    if (mood !== 'well' || recorder.pending() > maxUnrecorded) await recorded
    return mood
  }

  /** A first attempt that succeeded before its row was written goes into that very statement. */
  async function record(job: DeliveryJob, result: Result): Promise<void> {
    const { first } = job
    if (first) {
      if (result.row.status === 'succeeded') first.columns = result.row
      first.end()
      if (!(await first.settled)) return
    }
    await recorder.add(result)
    if (result.row.due_in_ms !== null) poller.wakeIn(result.row.due_in_ms)
    else nextOf(job.webhookId, job.orderingKey)
  }

  /** A delivery is finished, so the next one of its key has its turn. */
  function nextOf(webhookId: string, key: string | null) {
    if (key !== null) turns.ask([{ webhookId, key }])
  }

  function resultRow(job: DeliveryJob, result: AttemptResult): Omit<ResultRow, 'seq'> {
    const number = job.attempts + 1
    if (result.kind === 'postponed') {
      if (!stopping.signal.aborted)
        log[isOverBudget(result.reason) ? 'debug' : 'warn'](
          { err: result.reason, deliveryId: job.deliveryId },
          'attempt postponed',
        )
      const due = stopping.signal.aborted ? 0 : postponeMs
      return { ...emptyRow(job, number), status: 'postponed', due_in_ms: due }
    }
    const chance = { jitter: options.jitter, random: options.random() }
    const verdict = afterAttempt(result.outcome, job.target, number - job.cycleBase, chance)
    const due = verdict.status === 'retrying' ? Math.round(verdict.delayMs) : null
    return {
      ...emptyRow(job, number),
      ...recordColumns(result.record),
      status: verdict.status,
      due_in_ms: due,
    }
  }

  async function accept(claimed: Claimed[]): Promise<void> {
    const refused: string[] = []
    const withoutEvent: Claimed[] = []
    const sendBefore = now() + leaseMs * 0.9
    const targets = await targetsOf(claimed)
    for (const row of claimed) {
      const target = targets.get(row.webhook_id)
      if (row.event === null) withoutEvent.push(row)
      else if (
        !target ||
        !sender.reserve(
          { webhookId: target.id, workspaceId: target.tenant.workspaceId, bytes: row.bytes },
          target.rateLimitPerSecond,
        )
      )
        refused.push(row.id)
      else sender.submit(claimedJob(row, row.event, target, sendBefore))
    }
    await releaseLeases(database.sql, owner, refused)
    const unsendable = withoutEvent.map(({ id }) => id)
    await failWithoutEvent(database.sql, owner, unsendable)
    for (const row of withoutEvent) nextOf(row.webhook_id, row.ordering_key)
  }

  /** As the claim saw them, or later. */
  async function targetsOf(claimed: readonly Claimed[]): Promise<Map<string, Target>> {
    const versions = new Map(claimed.map(({ webhook_id, version }) => [webhook_id, version]))
    const missing = [...versions].filter(([id, version]) => targets.get(id)?.version !== version)
    if (missing.length > 0) {
      const rows = await database.sql.unsafe<WebhookRow[]>(
        'select id, workspace_id, environment, version, state from webhooks where id = any ($1::text[])',
        [missing.map(([id]) => id)],
        { prepare: true },
      )
      if (targets.size > maxTargets) targets.clear()
      for (const row of rows) targets.set(row.id, targetOf(row))
    }
    return new Map(
      [...versions.keys()].flatMap((id) => {
        const target = targets.get(id)
        return target ? [[id, target] as const] : []
      }),
    )
  }

  async function retake(): Promise<void> {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      try {
        return await retakeLeases(database.sql, owner)
      } catch (error) {
        if (attempt === 1) log.warn({ err: error }, 'leases of before cannot be taken back yet')
        await delay(
          retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
          stopping.signal,
        )
      }
    }
  }

  async function refresh(webhookId: string, tenant: TenantScope): Promise<void> {
    index.forget([tenant])
    await giveBack(webhookId)
    pacer.refresh(webhookId)
    turns.sweep()
    wake()
  }

  async function giveBack(webhookId: string): Promise<void> {
    const jobs = sender.discard(webhookId)
    // What has no row yet cannot be given back before it has.
    await Promise.all(jobs.map(({ first }) => first?.settled))
    await releaseLeases(
      database.sql,
      owner,
      jobs.map(({ deliveryId }) => deliveryId),
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
    async fanOut(incoming, places) {
      await retaken
      await fanOut(incoming, places)
    },
    refresh,
    wake() {
      wake()
      turns.sweep()
    },
    async close(graceMs) {
      await turns.close()
      await poller.close()
      pacer.stop()
      const cut = setTimeout(() => stopping.abort(), graceMs)
      const left = await sender.stop()
      clearTimeout(cut)
      await recorder.close()
      const leased = left.filter(({ first }) => first === undefined || first.made)
      await releaseLeases(
        database.sql,
        owner,
        leased.map(({ deliveryId }) => deliveryId),
      )
    },
  }
}

function claimedJob(row: Claimed, eventText: string, target: Target, sendBefore: number): DeliveryJob {
  const event: PlatformEvent = JSON.parse(eventText)
  const body = deliveryBody(event, target.id)
  return {
    deliveryId: row.id,
    webhookId: target.id,
    workspaceId: target.tenant.workspaceId,
    target,
    content: { id: event.id, type: event.type, text: bodyText(body, JSON.stringify(body.data)) },
    bytes: row.bytes,
    lane: row.attempts > row.cycle_base ? 'retry' : 'first',
    attempts: row.attempts,
    cycleBase: row.cycle_base,
    orderingKey: row.ordering_key,
    sendBefore,
  }
}

function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

/** It waits for the workspace's next minute, which is no fault. */
function isOverBudget(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'rate_limited'
}

function isGone(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status === 410
}

function moodOf(result: AttemptResult): EndpointMood {
  if (result.kind === 'postponed') return 'busy'
  if (result.outcome.kind === 'failed') return 'unwell'
  return result.outcome.status === 429 || result.outcome.status === 503 ? 'busy' : 'well'
}

function emptyRow(job: DeliveryJob, number: number): Omit<ResultRow, 'seq' | 'status' | 'due_in_ms'> {
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
