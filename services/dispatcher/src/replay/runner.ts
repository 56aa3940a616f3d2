import { Environment, newId, systemActor } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Database } from '@opsplane/postgres'
import { delay, type Logger } from '@opsplane/runtime'
import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import type { DeliveryDays } from '../delivery/delivery-days.js'
import { makeDue } from '../delivery/queue-statements.js'
import { replayed } from '../delivery/resending.js'
import { deliveries, replayJobs, webhooks } from '../schema.js'
import { presentJob, selectionFrom } from './jobs.js'
import { type ReplayJobRow, selected } from './matching.js'
import type { RecordReplay } from './replay-log.js'

export interface ReplayRunnerOptions {
  database: Database
  record: RecordReplay
  days: DeliveryDays
  log: Logger
  nowMs(): number
  /** Replays made per second and webhook. */
  perSecond: number
  /** There are deliveries that are due now. */
  wake(): void
  /** Events were committed. */
  announce(): void
}

export interface ReplayRunner {
  /** There is a new job. */
  kick(): void
  close(): Promise<void>
}

const stepEveryMs = 200
/** Jobs another replica left behind are seen at least so often. */
const idleMs = 5_000

/**
 * Works off replay jobs in small steps. A step's replays and the job's progress are one transaction, so whoever
 * takes the job up after a crash goes on behind the last replay; replicas share the work by the rows' locks.
 */
export function startReplayRunner(options: ReplayRunnerOptions): ReplayRunner {
  const { database, record, days, log, nowMs, perSecond, wake, announce } = options
  const batch = Math.max(1, Math.round((perSecond * stepEveryMs) / 1_000))
  const closing = new AbortController()
  let pause = new AbortController()
  let failed = false

  async function steps(): Promise<number> {
    try {
      const stepNow = () => database.db.transaction((tx) => step(tx, record, nowMs(), batch))
      while (!closing.signal.aborted) {
        const stepped = await days.inserting([nowMs()], stepNow)
        if (!stepped) break
        wake()
        if (stepped === 'ended') announce()
      }
      failed = false
      const [next] = await database.db
        .select({ dueAt: sql<number | null>`min(${replayJobs.dueAt})::float8` })
        .from(replayJobs)
        .where(eq(replayJobs.status, 'running'))
      return Math.min(idleMs, Math.max(10, (next?.dueAt ?? Number.POSITIVE_INFINITY) - nowMs()))
    } catch (error) {
      if (!failed) log.warn({ err: error }, 'replay jobs cannot be worked on')
      failed = true
      return idleMs
    }
  }

  const run = async () => {
    while (!closing.signal.aborted) {
      pause = new AbortController()
      const waitMs = await steps()
      await delay(waitMs, AbortSignal.any([closing.signal, pause.signal]))
    }
  }
  const running = run()
  return {
    kick: () => pause.abort(),
    async close() {
      closing.abort()
      await running
    },
  }
}

/** One step of one job that is due, and the event that tells of its end; undefined when none is due. */
async function step(
  tx: Transaction,
  record: RecordReplay,
  nowMs: number,
  batch: number,
): Promise<'goes_on' | 'ended' | undefined> {
  const [job] = await tx
    .select()
    .from(replayJobs)
    .where(and(eq(replayJobs.status, 'running'), lte(replayJobs.dueAt, nowMs)))
    .orderBy(asc(replayJobs.dueAt))
    .limit(1)
    .for('update', { skipLocked: true })
  if (!job) return undefined
  const made = await replaySome(tx, job, nowMs, batch)
  const ended = made.status === 'running' ? null : new Date(nowMs).toISOString()
  const [stepped] = await tx
    .update(replayJobs)
    .set({
      status: made.status,
      replayed: job.replayed + made.count,
      lastDeliveryId: made.last,
      dueAt: nowMs + stepEveryMs,
      finishedAt: ended,
    })
    .where(eq(replayJobs.id, job.id))
    .returning()
  if (!stepped || ended === null) return 'goes_on'
  const { workspaceId, environment } = job
  const tenant = { workspaceId, environment: Environment.parse(environment) }
  const kind = made.status === 'completed' ? 'complete' : 'cancel'
  const meta = { tenant, actor: systemActor, now: ended, requestId: null }
  await record(tx, meta, { kind, job: presentJob(stepped) })
  return 'ended'
}

async function replaySome(tx: Transaction, job: ReplayJobRow, nowMs: number, batch: number) {
  const [webhook] = await tx
    .select({ url: sql<string>`${webhooks.state}->>'url'` })
    .from(webhooks)
    .where(
      and(
        eq(webhooks.id, job.webhookId),
        eq(webhooks.workspaceId, job.workspaceId),
        eq(webhooks.environment, job.environment),
      ),
    )
  // The webhook was deleted meanwhile.
  if (!webhook) return { status: 'canceled', count: 0, last: job.lastDeliveryId }
  const rows = await tx
    .select()
    .from(deliveries)
    .where(and(selected(selectionFrom(job)), gt(deliveries.id, job.lastDeliveryId)))
    .orderBy(asc(deliveries.id))
    .limit(batch)
  const replays = rows.map((row) => replayed(newId('delivery'), row, { url: webhook.url, nowMs }))
  if (replays.length > 0) {
    await tx.insert(deliveries).values(replays)
    await makeDue(
      tx,
      replays.map(({ id }) => id),
    )
  }
  const status = rows.length < batch ? 'completed' : 'running'
  return { status, count: rows.length, last: rows.at(-1)?.id ?? job.lastDeliveryId }
}
