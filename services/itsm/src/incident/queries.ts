import type {
  IncidentStatus,
  Level,
  MajorState,
  Priority,
  ResolutionCode,
  Severity,
  TenantScope,
} from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../lists/created.js'
import { isOrNobody } from '../lists/nobody.js'
import { incidents } from '../schema.js'
import { hasMembers, isMajor, members, takingAlerts } from './indexes.js'

export interface IncidentFilters extends CreatedFilters {
  status?: IncidentStatus[] | undefined
  severity?: Severity[] | undefined
  priority?: Priority[] | undefined
  impact?: Level[] | undefined
  urgency?: Level[] | undefined
  resolutionCode?: ResolutionCode[] | undefined
  majorState?: MajorState | undefined
  parentId?: string | undefined
  problemId?: string | undefined
  changeId?: string | undefined
  dedupKey?: string | undefined
  watcherId?: string | undefined
  tag?: string | undefined
  assigneeId?: string | undefined
  assignmentGroup?: string | undefined
  q?: string | undefined
}

/** The columns a list of incidents can be sorted by. */
export const sortColumns = {
  createdAt: incidents.createdAt,
  updatedAt: incidents.updatedAt,
  number: incidents.numberValue,
}

export function incidentSelection(filters: IncidentFilters): Selection {
  const { status, severity, priority, impact, urgency, resolutionCode, q } = filters
  const words = q === undefined ? undefined : matchesText(incidents.search, q)
  return {
    where: incidentConditions(filters),
    anyOf: [
      status && { column: incidents.status, values: status },
      severity && { column: incidents.severity, values: severity },
      priority && { column: incidents.priority, values: priority },
      impact && { column: incidents.impact, values: impact },
      urgency && { column: incidents.urgency, values: urgency },
      resolutionCode && { column: incidents.resolutionCode, values: resolutionCode },
    ],
    // What a GIN index finds is sorted afterwards.
    search: and(words, has('watcherIds', filters.watcherId), has('tags', filters.tag)),
  }
}

function incidentConditions(filters: IncidentFilters): (SQL | undefined)[] {
  return [
    filters.majorState && eq(incidents.majorState, filters.majorState),
    filters.majorState && filters.majorState !== 'none' ? isMajor : undefined,
    is(incidents.parentId, filters.parentId),
    is(incidents.problemId, filters.problemId),
    is(incidents.changeId, filters.changeId),
    is(incidents.dedupKey, filters.dedupKey),
    isOrNobody(incidents.assigneeId, filters.assigneeId),
    isOrNobody(incidents.assignmentGroup, filters.assignmentGroup),
    ...createdWithin(incidents.createdAt, filters),
  ]
}

/** The id of the incident that takes the alerts with this key; undefined when there is none. */
export async function openIncidentByKey(
  db: Drizzle,
  tenant: TenantScope,
  dedupKey: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ id: incidents.id })
    .from(incidents)
    .where(
      and(
        eq(incidents.workspaceId, tenant.workspaceId),
        eq(incidents.environment, tenant.environment),
        eq(incidents.dedupKey, dedupKey),
        takingAlerts,
      ),
    )
  return row?.id
}

function is(column: PgColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value)
}

function has(field: 'watcherIds' | 'tags', member: string | undefined): SQL | undefined {
  if (member === undefined) return undefined
  return and(hasMembers(field), sql`${members(field)} @> ${JSON.stringify([member])}::jsonb`)
}
