import {
  type IncidentChannel,
  IncidentStatus,
  type Level,
  type MajorState,
  type Priority,
  type ResolutionCode,
  type Severity,
  type TenantScope,
} from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../../lists/created-filters.js'
import { equalsOrUnassigned } from '../../lists/unassigned.js'
import { incidents } from '../../schema/incident.js'
import {
  acceptsAlertsCondition,
  isMajorCondition,
  urgencyRange,
  urgencyRanks,
} from '../../schema/incident-indexes.js'

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
  ciId?: string | undefined
  callerId?: string | undefined
  category?: string | undefined
  channel?: IncidentChannel[] | undefined
  watcherId?: string | undefined
  tag?: string | undefined
  assigneeId?: string | undefined
  assignmentGroup?: string | undefined
  q?: string | undefined
}

/** Columns by which a list of incidents can be sorted. */
export const sortColumns = {
  createdAt: incidents.createdAt,
  updatedAt: incidents.updatedAt,
  number: incidents.numberValue,
  priority: incidents.byPriority,
  severity: incidents.bySeverity,
}
type SortField = keyof typeof sortColumns

const isByUrgency = (sort: SortField): sort is keyof typeof urgencyRanks => Object.hasOwn(urgencyRanks, sort)

/** Returns the selection for the filters in a form that is fast for the given sort order. */
export function incidentSelection(filters: IncidentFilters, sort: SortField = 'createdAt'): Selection {
  const { severity, priority, impact, urgency, resolutionCode, channel, q } = filters
  const byUrgency = isByUrgency(sort)
  // The indexes for sorting by urgency have the status as their first column.
  const status = filters.status ?? (byUrgency ? IncidentStatus.options : undefined)
  const words = q === undefined ? undefined : matchesText(incidents.search, q)
  return {
    where: [...incidentConditions(filters), byUrgency ? withinRanks(sort, filters[sort]) : undefined],
    anyOf: [
      status && { column: incidents.status, values: status, leadsOrder: byUrgency },
      severity && { column: incidents.severity, values: severity },
      priority && { column: incidents.priority, values: priority },
      impact && { column: incidents.impact, values: impact },
      urgency && { column: incidents.urgency, values: urgency },
      resolutionCode && { column: incidents.resolutionCode, values: resolutionCode },
      channel && { column: incidents.channel, values: channel },
    ],
    // Results of a GIN index have to be sorted afterwards.
    search: and(words, has(incidents.watcherIds, filters.watcherId), has(incidents.tags, filters.tag)),
  }
}

/**
 * If the list is filtered by its sort key, also limits the sort column, so that the index scan covers only
 * these ranks.
 */
function withinRanks(
  sort: keyof typeof urgencyRanks,
  values: readonly string[] | undefined,
): SQL | undefined {
  if (!values) return undefined
  const [from, to] = urgencyRange(urgencyRanks[sort], values)
  return and(gte(sortColumns[sort], from), lt(sortColumns[sort], to))
}

function incidentConditions(filters: IncidentFilters): (SQL | undefined)[] {
  return [
    filters.majorState && eq(incidents.majorState, filters.majorState),
    filters.majorState && filters.majorState !== 'none' ? isMajorCondition : undefined,
    is(incidents.parentId, filters.parentId),
    is(incidents.problemId, filters.problemId),
    is(incidents.changeId, filters.changeId),
    is(incidents.dedupKey, filters.dedupKey),
    is(incidents.ciId, filters.ciId),
    is(incidents.callerId, filters.callerId),
    is(incidents.category, filters.category),
    equalsOrUnassigned(incidents.assigneeId, filters.assigneeId),
    equalsOrUnassigned(incidents.assignmentGroup, filters.assignmentGroup),
    ...createdWithin(incidents.createdAt, filters),
  ]
}

/** Returns the id of the incident that counts alerts with this key; `undefined` if there is none. */
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
        acceptsAlertsCondition,
      ),
    )
  return row?.id
}

function is(column: PgColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value)
}

function has(column: PgColumn, member: string | undefined): SQL | undefined {
  return member === undefined ? undefined : sql`${column} @> ${JSON.stringify([member])}::jsonb`
}
