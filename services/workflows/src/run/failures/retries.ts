import {
  ApiError,
  invalidTransition,
  newId,
  notFound,
  type Page,
  RunRetry,
  type RunRetryStarted,
  type TenantScope,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { type Database, type FailureGroupKey, formatGroupId, uniqueViolation } from '@opsplane/postgres'
import { and, desc, eq, lt } from 'drizzle-orm'
import { runStatement } from '../store/store.js'
import { buildFailureCause } from './groups.js'
import { runRetries } from './tables.js'

export interface SelectedRuns extends FailureGroupKey {
  tenant: TenantScope
  /** Runs that ended by then. */
  endedBy: string
}

/** The failed runs of a group; `$1` to `$5` are those of `selectionParameters`. */
const selected = `from runs r where r.workflow_id = $1 and r.workspace_id = $2 and r.environment = $3
  and r.status in ('failed', 'dead') and r.ended_at <= $4::text::timestamptz and ${buildFailureCause('r')} = $5`

const selectionParameters = ({ targetId, cause, tenant, endedBy }: SelectedRuns) => [
  targetId,
  ...[tenant.workspaceId, tenant.environment],
  ...[endedBy, cause],
]

/** The next ones behind a run, in the order they were queued. */
export async function nextRuns(
  sql: Database['sql'],
  selection: SelectedRuns,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(
    sql,
    `select r.id ${selected} and r.id > $6 order by r.id limit ${limit}`,
    [...selectionParameters(selection), after],
  )
  return rows.map(({ id }) => id)
}

/**
 * Counts the runs of a group and, unless that is all that was asked, makes the job that retries them. Throws `conflict` while
 * another one of the group runs.
 */
export async function startRunRetry(
  { db, sql }: Pick<Database, 'db' | 'sql'>,
  selection: SelectedRuns,
  dryRun: boolean,
  { tenant, actor, requestId, now }: Pick<RequestMeta, 'tenant' | 'actor' | 'requestId' | 'now'>,
): Promise<RunRetryStarted> {
  const [found] = await runStatement<{ count: number }>(
    sql,
    `select count(*)::int as count ${selected}`,
    selectionParameters(selection),
  )
  const count = found?.count ?? 0
  if (dryRun) return { dryRun, count, job: null }
  const { targetId: workflowId, cause, endedBy } = selection
  const { workspaceId, environment } = tenant
  const row = { id: newId('runRetry'), workspaceId, environment, workflowId, cause, endedBy, total: count }
  try {
    const [made] = await db
      .insert(runRetries)
      .values({ ...row, actor, requestId, dueAt: now, createdAt: now })
      .returning()
    return { dryRun, count, job: made ? presentRetry(made) : null }
  } catch (error) {
    if (uniqueViolation(error) !== 'run_retries_running_key') throw error
    throw new ApiError(
      'conflict',
      'This group is already being retried. Wait for that retry to end, or cancel it.',
    )
  }
}

/** Throws `not_found`. */
export async function getRunRetry(
  { db }: Pick<Database, 'db'>,
  id: string,
  tenant: TenantScope,
): Promise<RunRetry> {
  const [row] = await db.select().from(runRetries).where(isRetry(id, tenant))
  if (!row) throw notFound()
  return presentRetry(row)
}

/** What is retried already stays so. Throws `not_found` and `invalid_state_transition`. */
export async function cancelRunRetry(
  { db }: Pick<Database, 'db'>,
  id: string,
  { tenant, now }: Pick<RequestMeta, 'tenant' | 'now'>,
): Promise<RunRetry> {
  const [canceled] = await db
    .update(runRetries)
    .set({ status: 'canceled', finishedAt: now })
    .where(and(isRetry(id, tenant), eq(runRetries.status, 'running')))
    .returning()
  if (canceled) return presentRetry(canceled)
  const { status } = await getRunRetry({ db }, id, tenant)
  throw invalidTransition('cancel the retry', status, [])
}

/** Newest first. */
export async function listRunRetries(
  { db }: Pick<Database, 'db'>,
  { tenant, limit, after }: { tenant: TenantScope; limit: number; after?: string | undefined },
): Promise<Page<RunRetry>> {
  const rows = await db
    .select()
    .from(runRetries)
    .where(and(ofTenant(tenant), after === undefined ? undefined : lt(runRetries.id, after)))
    .orderBy(desc(runRetries.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(presentRetry)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
}

const ofTenant = ({ workspaceId, environment }: TenantScope) =>
  and(eq(runRetries.workspaceId, workspaceId), eq(runRetries.environment, environment))

const isRetry = (id: string, tenant: TenantScope) => and(eq(runRetries.id, id), ofTenant(tenant))

function presentRetry(row: typeof runRetries.$inferSelect): RunRetry {
  const { id, workflowId, cause, status, total, retried, refused, createdAt, finishedAt } = row
  return RunRetry.parse({
    ...{
      id,
      workflowId,
      failures: formatGroupId({ targetId: workflowId, cause }),
      status,
      total,
      retried,
      refused,
    },
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt && new Date(finishedAt).toISOString(),
  })
}
