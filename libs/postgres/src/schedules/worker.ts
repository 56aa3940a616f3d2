import { Environment, type Schedule, type TenantScope } from '@opsplane/contracts'
import { decideFires, decideOverlap, type OverlapDecision } from '@opsplane/runtime'
import type { StatementRunner } from '../database.js'
import { type CreateWorker, type DueRow, transactionWorker } from '../due-work/index.js'
import { anchorSchedule, scheduleColumns } from './store.js'
import { dueSchedules } from './tables.js'

/** A schedule one of whose times is due. */
export interface ScheduleRow {
  id: string
  ownerKind: string
  ownerId: string
  tenant: TenantScope
  schedule: Schedule
  /** The time of the decision by the database's clock. */
  at: string
}

interface ScheduleWorkOptions {
  /** Identifies the work in the log and in hints; `schedules` if absent. */
  name?: string
  /** Maximum delay at which a time still counts as on time; a minute if absent. */
  graceMs?: number
  /** Number of the schedule's earlier starts that are still running or waiting. */
  isActive(tx: StatementRunner, row: ScheduleRow): Promise<number>
  /**
   * Starts the scheduled work, in the transaction that records it: `start`, `queue` it behind running work, or
   * `replace` that. Called once for each time, in order.
   */
  fire(
    tx: StatementRunner,
    row: ScheduleRow,
    fireAt: string,
    begin: Exclude<OverlapDecision, 'skip'>,
  ): Promise<unknown>
  /**
   * Called for a time at which nothing is started because earlier work is still running, in the transaction that
   * records it.
   */
  skipped?(tx: StatementRunner, row: ScheduleRow, fireAt: string): Promise<unknown>
  /** Called after something was started and committed. */
  committed?: () => void
}

interface Claimed extends DueRow {
  owner_kind: string
  owner_id: string
  workspace_id: string
  environment: string
  spec: string
  anchored_at: string
  planned_at: string
}

/** Each schedule takes several statements, so this keeps a batch short. */
const batch = 20
/** How long decisions are stored; nothing is planned for times before the latest one. */
const keptDays = 30

/** Starts scheduled work exactly once for each time, whichever replicas run or stop. */
export function scheduleWork(options: ScheduleWorkOptions): CreateWorker {
  return transactionWorker<Claimed>({
    name: options.name ?? 'schedules',
    of: dueSchedules,
    columns: ['owner_kind', 'owner_id', 'workspace_id', 'environment', ...scheduleColumns],
    batch,
    async perform(tx, rows) {
      for (const row of rows) await decideAbout(tx, row, options)
    },
    ...(options.committed && { committed: options.committed }),
  })
}

async function decideAbout(
  tx: StatementRunner,
  claimed: Claimed,
  options: ScheduleWorkOptions,
): Promise<void> {
  const row = rowOf(claimed)
  const { fires, next } = decideFires(row.schedule, {
    plannedAt: Date.parse(claimed.planned_at),
    now: Date.parse(row.at),
    ...(options.graceMs !== undefined && { graceMs: options.graceMs }),
  })
  let last: string | null = null
  for (const fire of fires) {
    const fireAt = new Date(fire).toISOString()
    if (await begin(tx, row, fireAt, options)) last = fireAt
  }
  await tx.unsafe(
    `with aged as (
        delete from schedule_fires where schedule_id = $1 and fire_at < $2::timestamptz - interval '${keptDays} days')
      update schedules set planned_at = $3::timestamptz, last_fired_at = coalesce($4::timestamptz, last_fired_at)
      where id = $1`,
    [row.id, row.at, next === undefined ? null : new Date(next).toISOString(), last],
  )
}

/** Returns whether anything was started. */
async function begin(
  tx: StatementRunner,
  row: ScheduleRow,
  fireAt: string,
  { isActive, fire, skipped }: ScheduleWorkOptions,
): Promise<boolean> {
  const begun = decideOverlap(row.schedule, await isActive(tx, row))
  const recorded = await tx.unsafe(
    `insert into schedule_fires (schedule_id, fire_at, decided_at, begun)
      values ($1, $2::timestamptz, $3::timestamptz, $4) on conflict do nothing returning 1`,
    [row.id, fireAt, row.at, begun],
  )
  if (recorded.length === 0) return false
  if (begun === 'skip') {
    await skipped?.(tx, row, fireAt)
    return false
  }
  await fire(tx, row, fireAt, begun)
  return true
}

const rowOf = (claimed: Claimed): ScheduleRow => ({
  id: claimed.key,
  ownerKind: claimed.owner_kind,
  ownerId: claimed.owner_id,
  tenant: { workspaceId: claimed.workspace_id, environment: Environment.parse(claimed.environment) },
  schedule: anchorSchedule(JSON.parse(claimed.spec), claimed.anchored_at),
  at: claimed.at,
})
