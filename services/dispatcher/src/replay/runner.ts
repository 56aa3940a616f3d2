import { Environment, newId, systemActor } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { type CreateWorker, isMissingPartition, toDrizzle, transactionWorker } from '@opsplane/postgres'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { makeDue } from '../delivery/due-rows.js'
import { findResendTarget } from '../delivery/queries.js'
import { buildReplay } from '../delivery/resend/resend-rows.js'
import type { DeliveryDays } from '../delivery/retention/delivery-days.js'
import { deliveries, dueReplays, replayJobs } from '../schema.js'
import { presentJob, toSelection } from './jobs.js'
import type { RecordReplay } from './replay-log.js'
import { isSelected, type ReplayJobRow } from './selection.js'

export interface ReplayWorkOptions {
  record: RecordReplay
  days: DeliveryDays
  nowMs(): number
  /** Maximum replays created per second and webhook. */
  perSecond: number
  /** Called when deliveries are due now. */
  wake(): void
  /** Called when events were committed. */
  announce(): void
}

export const replayWorkName = 'replays'
const stepEveryMs = 200

/**
 * Processes replay jobs in small steps. A step's replays and the job's progress are written in one transaction, so a
 * replica that resumes the job after a crash continues after the last replay. Row locks distribute jobs over replicas.
 */
export function replayWork(options: ReplayWorkOptions): CreateWorker {
  const { record, days, nowMs, perSecond, wake, announce } = options
  const size = Math.max(1, Math.round((perSecond * stepEveryMs) / 1_000))
  return transactionWorker({
    name: replayWorkName,
    of: dueReplays,
    batch: 1,
    prepare: () => days.ensure([nowMs()]),
    async perform(tx, rows) {
      try {
        for (const { key, at } of rows) await step(toDrizzle(tx), record, { id: key, now: at, size })
      } catch (error) {
        if (isMissingPartition(error)) days.forget()
        throw error
      }
    },
    committed() {
      wake()
      announce()
    },
    isRetryable: isMissingPartition,
  })
}

/** Runs one step of a job whose row is locked, and appends the event if the job ends. */
async function step(
  tx: Transaction,
  record: RecordReplay,
  { id, now, size }: { id: string; now: string; size: number },
): Promise<void> {
  const [job] = await tx.select().from(replayJobs).where(eq(replayJobs.id, id))
  if (!job) return
  const made = await replaySome(tx, job, Date.parse(now), size)
  const endedAt = made.status === 'running' ? null : now
  const [stepped] = await tx
    .update(replayJobs)
    .set({
      status: made.status,
      replayed: job.replayed + made.count,
      lastDeliveryId: made.last,
      dueAt: sql`${now}::timestamptz + ${stepEveryMs} * interval '1 ms'`,
      finishedAt: endedAt,
    })
    .where(eq(replayJobs.id, id))
    .returning()
  if (!stepped || endedAt === null) return
  const { workspaceId, environment } = job
  const tenant = { workspaceId, environment: Environment.parse(environment) }
  const kind = made.status === 'completed' ? 'complete' : 'cancel'
  const meta = { tenant, actor: systemActor, now: endedAt, requestId: null }
  await record(tx, meta, { kind, job: presentJob(stepped) })
}

async function replaySome(tx: Transaction, job: ReplayJobRow, nowMs: number, batch: number) {
  const webhook = await findResendTarget(tx, job, job.webhookId)
  // The webhook was deleted meanwhile.
  if (!webhook) return { status: 'canceled', count: 0, last: job.lastDeliveryId }
  const rows = await tx
    .select()
    .from(deliveries)
    .where(and(isSelected(toSelection(job)), gt(deliveries.id, job.lastDeliveryId)))
    .orderBy(asc(deliveries.id))
    .limit(batch)
  const replays = rows.map((row) => buildReplay(newId('delivery'), row, { url: webhook.url, nowMs }))
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
