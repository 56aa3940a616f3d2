import type { ProblemState, TenantScope } from '@opsplane/contracts'
import { invalidField, ProblemStatus } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, sql } from 'drizzle-orm'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { problems } from '../schema/problem.js'

/**
 * Whether the problem is resolved or closed. Waiting incidents can expect nothing more from it, unless it is
 * reopened.
 */
export const hasEnded = ({ status }: Pick<ProblemState, 'status'>): boolean =>
  status === 'resolved' || status === 'closed'

/** Throws validation_failed naming /problemId if the problem named by another record does not exist. */
export async function checkProblemLink(
  db: Drizzle,
  tenant: TenantScope,
  id: string | null | undefined,
): Promise<void> {
  if (id === undefined || id === null || (await problemExists(db, tenant, id))) return
  throw invalidField(
    '/problemId',
    'unknown_problem',
    'There is no such problem in this workspace and environment.',
  )
}

/** Throws validation_failed naming /holdReason if an incident would begin to wait for a problem that has ended. */
export async function checkProblemAwaited(db: Drizzle, tenant: TenantScope, id: string): Promise<void> {
  const [row] = await db
    .select({ number: sql<string>`${problems.state}->>'number'`, status: problems.status })
    .from(problems)
    .where(and(...tenantConditions(problems, tenant), eq(problems.id, id)))
  const status = ProblemStatus.safeParse(row?.status).data
  if (row === undefined || status === undefined || !hasEnded({ status })) return
  throw invalidField(
    '/holdReason',
    'problem_ended',
    `Problem ${row.number} is ${status}: nothing more comes of it. Reopen it, or wait for something else.`,
  )
}

/** Whether a problem with this id exists in the workspace and environment. */
export async function problemExists(db: Drizzle, tenant: TenantScope, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: problems.id })
    .from(problems)
    .where(and(...tenantConditions(problems, tenant), eq(problems.id, id)))
  return rows.length > 0
}
