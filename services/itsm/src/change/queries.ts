import {
  type ChangePolicyState,
  type ChangeRisk,
  type ChangeStatus,
  type ChangeType,
  type CiStatus,
  type Criticality,
  storedState,
  type TenantScope,
} from '@opsplane/contracts'
import { events } from '@opsplane/eventstore'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, desc, eq, gt, inArray, isNotNull, lt, ne, notExists, type SQL, sql } from 'drizzle-orm'
import { type CreatedFilters, createdWithin } from '../lists/created-filters.js'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { equalsOrUnassigned } from '../lists/unassigned.js'
import { changePolicies, changes } from '../schema/change.js'
import { configurationItems } from '../schema/cmdb.js'
import { incidents } from '../schema/incident.js'
import { changePolicy } from './policy/policy.js'
import type { RiskFacts } from './policy/risk.js'

export interface ChangeFilters extends CreatedFilters {
  status?: ChangeStatus[] | undefined
  type?: ChangeType[] | undefined
  risk?: ChangeRisk[] | undefined
  assigneeId?: string | undefined
  assignmentGroup?: string | undefined
  requesterId?: string | undefined
  ciId?: string | undefined
  problemId?: string | undefined
  templateId?: string | undefined
  approverId?: string | undefined
  q?: string | undefined
  plannedAfter?: string | undefined
  plannedBefore?: string | undefined
}

/** Columns by which a list of changes can be sorted. */
export const sortColumns = {
  createdAt: changes.createdAt,
  plannedStart: changes.plannedOrder,
  updatedAt: changes.updatedAt,
  number: changes.numberValue,
}

export function changeSelection(filters: ChangeFilters): Selection {
  const { status, type, risk, ciId, q } = filters
  return {
    where: changeConditions(filters),
    anyOf: [
      status && { column: changes.status, values: status },
      type && { column: changes.type, values: type },
      risk && { column: changes.risk, values: risk },
    ],
    // Results of a GIN index have to be sorted afterwards.
    search: and(
      q === undefined ? undefined : matchesText(changes.search, q),
      ciId === undefined ? undefined : touchesAny([ciId]),
    ),
  }
}

function changeConditions(filters: ChangeFilters): (SQL | undefined)[] {
  return [
    equalsOrUnassigned(changes.assigneeId, filters.assigneeId),
    equalsOrUnassigned(changes.assignmentGroup, filters.assignmentGroup),
    filters.requesterId === undefined ? undefined : eq(changes.requesterId, filters.requesterId),
    filters.problemId === undefined ? undefined : eq(changes.problemId, filters.problemId),
    filters.templateId === undefined ? undefined : eq(changes.templateId, filters.templateId),
    filters.approverId === undefined ? undefined : awaitsApprovalBy(filters.approverId),
    filters.plannedAfter === undefined ? undefined : gt(changes.plannedStart, filters.plannedAfter),
    filters.plannedBefore === undefined ? undefined : lt(changes.plannedStart, filters.plannedBefore),
    ...createdWithin(changes.createdAt, filters),
  ]
}

export interface TouchedItem {
  id: string
  status: CiStatus
  criticality: Criticality
  class: string
}

/** Returns those of the items that exist. */
export async function findTouchedItems(
  db: Drizzle,
  tenant: TenantScope,
  ids: readonly string[],
): Promise<TouchedItem[]> {
  if (ids.length === 0) return []
  const { id, status, criticality, class: itemClass } = configurationItems
  const rows = await db
    .select({ id, status, criticality, class: itemClass })
    .from(configurationItems)
    .where(and(...tenantConditions(configurationItems, tenant), inArray(id, [...ids])))
  // Safe cast: the columns are generated from states that were validated when they were written.
  return rows as TouchedItem[]
}

/** Number of latest changes with an outcome that are considered. */
const pastChanges = 20

/** Counts the latest changes of any of these items, except the given one, and how many of them failed. */
export async function countPastOutcomes(
  db: Drizzle,
  tenant: TenantScope,
  ids: readonly string[],
  except: string,
): Promise<RiskFacts['past']> {
  if (ids.length === 0) return { changes: 0, failed: 0 }
  const outcome = sql<string>`${changes.state}->>'outcome'`
  const rows = await db
    .select({ outcome })
    .from(changes)
    .where(
      and(...tenantConditions(changes, tenant), touchesAny(ids), isNotNull(outcome), ne(changes.id, except)),
    )
    .orderBy(desc(changes.updatedAt), desc(changes.id))
    .limit(pastChanges)
  return { changes: rows.length, failed: rows.filter((row) => row.outcome === 'unsuccessful').length }
}

/** Returns the active policies in order. */
export async function readActiveChangePolicies(
  db: Drizzle,
  tenant: TenantScope,
): Promise<ChangePolicyState[]> {
  const rows = await db
    .select({ state: changePolicies.state })
    .from(changePolicies)
    .where(and(...tenantConditions(changePolicies, tenant), eq(changePolicies.status, 'active')))
    .orderBy(changePolicies.order, changePolicies.id)
  return rows.map(({ state }) => storedState(changePolicy, state))
}

/** Returns the incidents on hold for a change, without those that the event has already resumed. */
export async function findIncidentsAwaitingChange(
  db: Drizzle,
  tenant: TenantScope,
  changeId: string,
  eventId: string,
): Promise<string[]> {
  const rows = await db
    .select({ id: incidents.id })
    .from(incidents)
    .where(
      and(
        ...tenantConditions(incidents, tenant),
        eq(incidents.status, 'on_hold'),
        sql`${incidents.state}->>'changeId' = ${changeId}`,
        sql`${incidents.state}->>'holdReason' = 'awaiting_change'`,
        notExists(
          db
            .select({ one: sql`1` })
            .from(events)
            .where(and(eq(events.streamId, incidents.id), eq(events.causationId, eventId))),
        ),
      ),
    )
    .orderBy(incidents.id)
  return rows.map(({ id }) => id)
}

/** Condition: the change touches at least one of the items. */
function touchesAny(ids: readonly string[]): SQL {
  const list = sql.join(
    ids.map((id) => sql`${id}`),
    sql`, `,
  )
  return sql`${changes.ciIds} ?| array[${list}]::text[]`
}

/**
 * Condition: an approval is pending that the person (or anyone) is asked
 * for, that they have not decided on, and from which they are not excluded.
 */
function awaitsApprovalBy(userId: string): SQL {
  const list = JSON.stringify([userId])
  const decided = JSON.stringify([{ userId }])
  return sql`${changes.status} in ('assess', 'authorize') and ${changes.state}->>'onHold' = 'false' and exists (
    select from jsonb_array_elements((${changes.state}->'approvals')::jsonb) as a
    where a->>'status' = 'pending'
      and (a->'approverIds' = 'null'::jsonb or a->'approverIds' @> ${list}::jsonb)
      and not a->'excludedIds' @> ${list}::jsonb
      and not a->'decisions' @> ${decided}::jsonb)`
}
