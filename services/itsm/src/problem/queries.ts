import { invalidField, type Priority, ProblemStatus, type TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../lists/created.js'
import { isOrNobody } from '../lists/nobody.js'
import { hasEnded } from './reaction.js'
import { problems } from './tables.js'

export interface ProblemFilters extends CreatedFilters {
  status?: ProblemStatus[] | undefined
  priority?: Priority[] | undefined
  knownError?: boolean | undefined
  assigneeId?: string | undefined
  assignmentGroup?: string | undefined
  ciId?: string | undefined
  tag?: string | undefined
  q?: string | undefined
}

/** The columns a list of problems can be sorted by. */
export const sortColumns = {
  createdAt: problems.createdAt,
  updatedAt: problems.updatedAt,
  number: problems.numberValue,
}

export function problemSelection(filters: ProblemFilters): Selection {
  const { status, priority, ciId, tag, q } = filters
  const words = q === undefined ? undefined : matchesText(problems.search, q)
  return {
    where: problemConditions(filters),
    anyOf: [
      status && { column: problems.status, values: status },
      priority && { column: problems.priority, values: priority },
    ],
    // What a GIN index finds is sorted afterwards.
    search: and(words, holds(problems.ciIds, ciId), holds(problems.tags, tag)),
  }
}

function problemConditions(filters: ProblemFilters): (SQL | undefined)[] {
  return [
    filters.knownError === undefined
      ? undefined
      : sql`${problems.knownError} = ${sql.raw(String(filters.knownError))}`,
    isOrNobody(problems.assigneeId, filters.assigneeId),
    isOrNobody(problems.assignmentGroup, filters.assignmentGroup),
    ...createdWithin(problems.createdAt, filters),
  ]
}

/** Holds the problem that another record names against those there are. Throws validation_failed naming /problemId. */
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

/** Throws validation_failed naming /holdReason when an incident is to wait for a problem that has ended. */
export async function checkProblemAwaited(db: Drizzle, tenant: TenantScope, id: string): Promise<void> {
  const [row] = await db
    .select({ number: sql<string>`${problems.state}->>'number'`, status: problems.status })
    .from(problems)
    .where(and(...within(tenant), eq(problems.id, id)))
  const status = ProblemStatus.safeParse(row?.status).data
  if (row === undefined || status === undefined || !hasEnded({ status })) return
  throw invalidField(
    '/holdReason',
    'problem_ended',
    `Problem ${row.number} is ${status}: nothing more comes of it. Reopen it, or wait for something else.`,
  )
}

/** Whether there is a problem of this id in the workspace and environment. */
export async function problemExists(db: Drizzle, tenant: TenantScope, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: problems.id })
    .from(problems)
    .where(and(...within(tenant), eq(problems.id, id)))
  return rows.length > 0
}

function within({ workspaceId, environment }: TenantScope): SQL[] {
  return [eq(problems.workspaceId, workspaceId), eq(problems.environment, environment)]
}

function holds(list: PgColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : sql`${list} @> ${JSON.stringify([value])}::text::jsonb`
}
