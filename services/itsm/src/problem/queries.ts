import type { Priority, ProblemStatus, TenantScope } from '@opsplane/contracts'
import { matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../lists/created-filters.js'
import { equalsOrUnassigned } from '../lists/unassigned.js'
import { problems } from '../schema/problem.js'

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

/** Columns by which a list of problems can be sorted. */
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
    // Results of a GIN index have to be sorted afterwards.
    search: and(words, containsValue(problems.ciIds, ciId), containsValue(problems.tags, tag)),
  }
}

function problemConditions(filters: ProblemFilters): (SQL | undefined)[] {
  return [
    filters.knownError === undefined
      ? undefined
      : sql`${problems.knownError} = ${sql.raw(String(filters.knownError))}`,
    equalsOrUnassigned(problems.assigneeId, filters.assigneeId),
    equalsOrUnassigned(problems.assignmentGroup, filters.assignmentGroup),
    ...createdWithin(problems.createdAt, filters),
  ]
}

export function within({ workspaceId, environment }: TenantScope): SQL[] {
  return [eq(problems.workspaceId, workspaceId), eq(problems.environment, environment)]
}

function containsValue(list: PgColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : sql`${list} @> ${JSON.stringify([value])}::text::jsonb`
}
