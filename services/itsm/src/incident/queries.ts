import type { IncidentStatus, Severity, TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
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

export function incidentConditions(filters: IncidentFilters): (SQL | undefined)[] {
  return [
    filters.status && inArray(incidents.status, filters.status),
    filters.severity && inArray(incidents.severity, filters.severity),
    isOrNobody(incidents.assigneeId, filters.assigneeId),
    isOrNobody(incidents.assignmentGroup, filters.assignmentGroup),
    filters.q === undefined ? undefined : mentions(filters.q),
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

/** Title or number contains the text, in any case; `%` and `_` in it stand for themselves. */
function mentions(text: string): SQL | undefined {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  return or(
    sql`${incidents.state}->>'title' ilike ${pattern}`,
    sql`${incidents.state}->>'number' ilike ${pattern}`,
  )
}
