import {
  ApiError,
  type CommandMeta,
  Environment,
  invalidTransition,
  newId,
  notFound,
  type Page,
  type ReplayDeliveries,
  ReplayJob,
  type ReplayStarted,
  type TenantScope,
} from '@opsplane/contracts'
import { storeIdempotentResponse } from '@opsplane/eventstore'
import { spanIn } from '@opsplane/http'
import {
  type Database,
  dueNow,
  type FailureGroupKey,
  formatGroupId,
  uniqueViolation,
} from '@opsplane/postgres'
import { and, count, desc, eq, lt } from 'drizzle-orm'
import { deliveries, replayJobs } from '../schema.js'
import { belongsToTenant } from '../tenant-rows.js'
import type { RecordReplay } from './replay-log.js'
import { isSelected, type ReplayJobRow, type Selection } from './selection.js'

export interface ReplayContext {
  database: Database
  record: RecordReplay
}

export interface ReplayRequest {
  webhook: { id: string; name: string }
  selection: Selection
  dryRun: boolean
}

/**
 * Counts the matching deliveries and, unless only the count was requested, creates the job that replays them. Throws
 * `conflict` while another job of the webhook runs.
 */
export async function startReplay(
  { database: { db }, record }: ReplayContext,
  { webhook: { name: webhookName }, selection, dryRun }: ReplayRequest,
  nowMs: number,
  meta: CommandMeta,
): Promise<ReplayStarted> {
  const now = new Date(nowMs).toISOString()
  try {
    return await db.transaction(async (tx) => {
      const [matching] = await tx.select({ count: count() }).from(deliveries).where(isSelected(selection))
      const total = matching?.count ?? 0
      const row = { id: newId('replay'), ...selection, total, dueAt: dueNow(now), createdAt: now }
      const [made] = dryRun ? [] : await tx.insert(replayJobs).values(row).returning()
      const job = made ? presentJob(made) : null
      if (job) await record(tx, meta, { kind: 'start', job, webhookName })
      const started = { dryRun, count: total, job }
      await storeIdempotentResponse(tx, meta, started)
      return started
    })
  } catch (error) {
    if (uniqueViolation(error) !== 'replay_jobs_running_key') throw error
    throw new ApiError('conflict', 'A replay of this webhook is running. Wait until it ends, or cancel it.')
  }
}

/** The requested selection of a webhook's deliveries. */
export function buildSelection(
  { workspaceId, environment }: TenantScope,
  webhookId: string,
  { status, eventType, timeZone, ...bounds }: ReplayDeliveries,
  nowMs: number,
): Selection {
  const now = new Date(nowMs).toISOString()
  const { from, to } = spanIn(timeZone, bounds)
  const toTime = to !== undefined && to < now ? to : now
  const statuses = [...new Set(status)]
  return {
    ...{ workspaceId, environment, webhookId, statuses, eventType: eventType ?? null },
    ...{ fromTime: from ?? null, toTime, cause: null, toPosition: null },
  }
}

/** The failures of a webhook with one cause, up to a change position. */
export function buildFailureSelection(
  { workspaceId, environment }: TenantScope,
  { targetId, cause }: FailureGroupKey,
  toPosition: number,
  nowMs: number,
): Selection {
  return {
    ...{ workspaceId, environment, webhookId: targetId, statuses: ['failed'], eventType: null },
    ...{ fromTime: null, toTime: new Date(nowMs).toISOString(), cause, toPosition },
  }
}

export interface JobKey {
  tenant: TenantScope
  webhookId: string
  jobId: string
}

/** Throws `not_found`. */
export async function getReplay({ db }: Database, key: JobKey): Promise<ReplayJob> {
  const [row] = await db.select().from(replayJobs).where(isJob(key))
  if (!row) throw notFound()
  return presentJob(row)
}

/** Deliveries already replayed are kept. Throws `not_found` and `invalid_state_transition`. */
export function cancelReplay(
  { database: { db }, record }: ReplayContext,
  key: JobKey,
  meta: CommandMeta,
): Promise<ReplayJob> {
  return db.transaction(async (tx) => {
    const [row] = await tx.select().from(replayJobs).where(isJob(key)).for('update')
    if (!row) throw notFound()
    if (row.status !== 'running') throw invalidTransition('cancel the replay', row.status, [])
    const [canceled] = await tx
      .update(replayJobs)
      .set({ status: 'canceled', finishedAt: meta.now })
      .where(isJob(key))
      .returning()
    if (!canceled) throw notFound()
    const job = presentJob(canceled)
    await record(tx, meta, { kind: 'cancel', job })
    await storeIdempotentResponse(tx, meta, job)
    return job
  })
}

export interface ListReplays {
  tenant: TenantScope
  webhookId: string
  limit: number
  /** A job id: only older ones are returned. */
  after?: string | undefined
}

/** Newest first. */
export async function listReplays(
  { db }: Database,
  { tenant, webhookId, limit, after }: ListReplays,
): Promise<Page<ReplayJob>> {
  const rows = await db
    .select()
    .from(replayJobs)
    .where(
      and(belongsToWebhook(tenant, webhookId), after === undefined ? undefined : lt(replayJobs.id, after)),
    )
    .orderBy(desc(replayJobs.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(presentJob)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
}

const belongsToWebhook = (tenant: TenantScope, webhookId: string) =>
  and(eq(replayJobs.webhookId, webhookId), belongsToTenant(replayJobs, tenant))

const isJob = ({ tenant, webhookId, jobId }: JobKey) =>
  and(eq(replayJobs.id, jobId), belongsToWebhook(tenant, webhookId))

/** A job's row as a selection. */
export function toSelection(row: ReplayJobRow): Selection {
  return { ...row, environment: Environment.parse(row.environment) }
}

/** The job in its API and event representation. */
export function presentJob(row: ReplayJobRow): ReplayJob {
  const { webhookId, statuses, eventType, fromTime, toTime, cause } = row
  const group = cause === null ? {} : { failures: formatGroupId({ targetId: webhookId, cause }) }
  const filter = { status: statuses, eventType, from: fromTime, to: toTime, ...group }
  return ReplayJob.parse({ ...row, filter })
}
