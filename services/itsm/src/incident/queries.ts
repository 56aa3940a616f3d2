import type { IncidentStatus, Severity, TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, gt, isNull, lt, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { incidents } from '../schema.js'

/** Asks for incidents that have no assignee, or no team. */
export const nobody = 'none'

export interface IncidentFilters {
  status?: IncidentStatus[] | undefined
  severity?: Severity[] | undefined
  assigneeId?: string | undefined
  assignmentGroup?: string | undefined
  q?: string | undefined
  createdAfter?: string | undefined
  createdBefore?: string | undefined
}

/** The columns a list of incidents can be sorted by. */
export const sortColumns = {
  createdAt: incidents.createdAt,
  updatedAt: incidents.updatedAt,
  number: incidents.numberValue,
}

export function incidentSelection(filters: IncidentFilters): Selection {
  const { status, severity, q } = filters
  return {
    where: incidentConditions(filters),
    anyOf: [
      status && { column: incidents.status, values: status },
      severity && { column: incidents.severity, values: severity },
    ],
    search: q === undefined ? undefined : matchesText(incidents.search, q),
  }
}

function incidentConditions(filters: IncidentFilters): (SQL | undefined)[] {
  return [
    isOrNobody(incidents.assigneeId, filters.assigneeId),
    isOrNobody(incidents.assignmentGroup, filters.assignmentGroup),
    filters.createdAfter === undefined ? undefined : gt(incidents.createdAt, filters.createdAfter),
    filters.createdBefore === undefined ? undefined : lt(incidents.createdAt, filters.createdBefore),
  ]
}

/** The id of the incident with this number, such as `INC-12`; undefined when there is none. */
export async function incidentIdByNumber(
  db: Drizzle,
  tenant: TenantScope,
  number: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ id: incidents.id })
    .from(incidents)
    .where(
      and(
        eq(incidents.workspaceId, tenant.workspaceId),
        eq(incidents.environment, tenant.environment),
        eq(incidents.numberValue, Number(number.slice('INC-'.length))),
      ),
    )
  return row?.id
}

function isOrNobody(column: PgColumn, value: string | undefined): SQL | undefined {
  if (value === undefined) return undefined
  return value === nobody ? isNull(column) : eq(column, value)
}
