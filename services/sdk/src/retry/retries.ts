import {
  ApiError,
  ExecutionRetry,
  type ExecutionRetryStarted,
  invalidTransition,
  newId,
  notFound,
  type Page,
  type TenantScope,
} from '@opsplane/contracts'
import { type Database, type FailureGroupKey, formatGroupId, uniqueViolation } from '@opsplane/postgres'
import { and, desc, eq, lt } from 'drizzle-orm'
import { causeSql, currentFailureSql } from '../execution/failures.js'
import type { ReplayCaller } from '../invoke/replays.js'
import { executionRetries } from './tables.js'

export interface SelectedExecutions extends FailureGroupKey {
  tenant: TenantScope
  /** Of the order of changes: executions that had ended by then. */
  position: string
}

type Db = Pick<Database, 'db'>

/** The executions of a group that are failed now; `$1` to `$5` are those of `selectionParameters`. */
const selected = `from executions e where e.artifact_id = $1 and e.workspace_id = $2 and e.environment = $3
  and coalesce(e.change_position, 0) <= $4::text::bigint and ${currentFailureSql} and ${causeSql} = $5`

const selectionParameters = ({ targetId, cause, tenant, position }: SelectedExecutions) => [
  ...[targetId, tenant.workspaceId, tenant.environment],
  ...[position, cause],
]

/** The next ones behind an execution, in the order they began. */
export async function nextExecutions(
  sql: Database['sql'],
  selection: SelectedExecutions,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `select e.id ${selected} and e.id > $6 order by e.id limit ${limit}`,
    [...selectionParameters(selection), after],
    { prepare: true },
  )
  return rows.map(({ id }) => id)
}

/** Throws `not_found`. */
export async function requireArtifact(
  sql: Database['sql'],
  id: string,
  { workspaceId, environment }: TenantScope,
): Promise<void> {
  const rows = await sql.unsafe(
    'select from artifacts where id = $1 and workspace_id = $2 and environment = $3',
    [id, workspaceId, environment],
    { prepare: true },
  )
  if (rows.length === 0) throw notFound()
}

/**
 * Counts the executions of a group and, unless that is all that was asked, makes the job that replays them. Throws `conflict`
 * while another one of the group runs.
 */
export async function startExecutionRetry(
  { db, sql }: Pick<Database, 'db' | 'sql'>,
  selection: SelectedExecutions,
  dryRun: boolean,
  by: ReplayCaller,
): Promise<ExecutionRetryStarted> {
  const [found] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int as count ${selected}`,
    selectionParameters(selection),
    { prepare: true },
  )
  const count = found?.count ?? 0
  if (dryRun) return { dryRun, count, job: null }
  const { targetId: artifactId, cause, tenant } = selection
  const { userId, caller, depth, requestId, now } = by
  try {
    const [made] = await db
      .insert(executionRetries)
      .values({
        ...{ id: newId('executionRetry'), ...tenant, artifactId, cause, total: count },
        ...{ userId, caller, depth, requestId: requestId ?? '', dueAt: now, createdAt: now },
        position: Number(selection.position),
      })
      .returning()
    return { dryRun, count, job: made ? presentRetry(made) : null }
  } catch (error) {
    if (uniqueViolation(error) !== 'execution_retries_running_key') throw error
    throw new ApiError('conflict', 'A retry of this group is running. Wait until it ends, or cancel it.')
  }
}

/** Throws `not_found`. */
export async function getExecutionRetry(
  { db }: Db,
  id: string,
  tenant: TenantScope,
): Promise<ExecutionRetry> {
  const [row] = await db.select().from(executionRetries).where(isRetry(id, tenant))
  if (!row) throw notFound()
  return presentRetry(row)
}

/** What is replayed already goes on. Throws `not_found` and `invalid_state_transition`. */
export async function cancelExecutionRetry(
  { db }: Db,
  id: string,
  { tenant, now }: { tenant: TenantScope; now: string },
): Promise<ExecutionRetry> {
  const [canceled] = await db
    .update(executionRetries)
    .set({ status: 'canceled', finishedAt: now })
    .where(and(isRetry(id, tenant), eq(executionRetries.status, 'running')))
    .returning()
  if (canceled) return presentRetry(canceled)
  const { status } = await getExecutionRetry({ db }, id, tenant)
  throw invalidTransition('cancel the retry', status, [])
}

/** Newest first. */
export async function listExecutionRetries(
  { db }: Db,
  { tenant, limit, after }: { tenant: TenantScope; limit: number; after?: string | undefined },
): Promise<Page<ExecutionRetry>> {
  const rows = await db
    .select()
    .from(executionRetries)
    .where(and(ofTenant(tenant), after === undefined ? undefined : lt(executionRetries.id, after)))
    .orderBy(desc(executionRetries.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(presentRetry)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null, limit }
}

const ofTenant = ({ workspaceId, environment }: TenantScope) =>
  and(eq(executionRetries.workspaceId, workspaceId), eq(executionRetries.environment, environment))

const isRetry = (id: string, tenant: TenantScope) => and(eq(executionRetries.id, id), ofTenant(tenant))

function presentRetry(row: typeof executionRetries.$inferSelect): ExecutionRetry {
  const { id, artifactId, cause, status, total, retried, refused, createdAt, finishedAt } = row
  return ExecutionRetry.parse({
    ...{ id, artifactId, status, total, retried, refused },
    failures: formatGroupId({ targetId: artifactId, cause }),
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: finishedAt && new Date(finishedAt).toISOString(),
  })
}
