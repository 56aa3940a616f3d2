import {
  type CatalogItemStatus,
  type CatalogRequestStatus,
  PlannedTask,
  type TenantScope,
} from '@opsplane/contracts'
import { type Drizzle, type KeysetTable, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, exists, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { type CreatedFilters, createdWithin } from '../lists/created-filters.js'
import { catalogItemRevisions, catalogItems, catalogRequests } from '../schema/catalog.js'
import { includesAnyone, includesUser } from './access.js'
import { revisionRowId } from './item-domain.js'

export interface ItemFilters extends CreatedFilters {
  status?: CatalogItemStatus[] | undefined
  category?: string | undefined
  tag?: string | undefined
  q?: string | undefined
}

export interface RequestFilters extends CreatedFilters {
  status?: CatalogRequestStatus[] | undefined
  itemId?: string | undefined
  requesterId?: string | undefined
  approverId?: string | undefined
  assigneeId?: string | undefined
  q?: string | undefined
}

const ifDefined = <Value>(value: Value | undefined, condition: (value: Value) => SQL | undefined) =>
  value === undefined ? undefined : condition(value)

export function itemSelection(
  { status, category, tag, q, ...created }: ItemFilters,
  visible: SQL | undefined,
): Selection {
  return {
    where: [
      visible,
      ifDefined(category, (categoryName) => eq(catalogItems.category, categoryName)),
      ...createdWithin(catalogItems.createdAt, created),
    ],
    anyOf: [status && { column: catalogItems.status, values: status }],
    // Results of a GIN index have to be sorted afterwards.
    search: and(
      ifDefined(q, (words) => matchesText(catalogItems.search, words)),
      ifDefined(tag, (tagName) => sql`${catalogItems.tags} @> ${JSON.stringify([tagName])}::jsonb`),
    ),
  }
}

/**
 * Condition for the items visible without `catalog:write`: active ones. As of an instant: items that were active then
 * and still are. Retiring an item therefore hides its past as well.
 */
export function activeItems(db: Drizzle, asOf: string | undefined): SQL | undefined {
  const active = eq(catalogItems.status, 'active')
  if (asOf === undefined) return active
  const present = alias(catalogItems, 'present')
  const { id, workspaceId, environment } = catalogItems
  const same = [
    eq(present.id, id),
    eq(present.workspaceId, workspaceId),
    eq(present.environment, environment),
  ]
  const stillActive = db
    .select({ id: present.id })
    .from(present)
    .where(and(...same, eq(present.status, 'active')))
  return and(active, exists(stillActive))
}

/** Selection of requests among those the caller may see. */
export function requestSelection(filters: RequestFilters, visible: SQL | undefined): Selection {
  const { status, itemId, requesterId, createdAt, search } = catalogRequests
  return {
    where: [
      visible,
      ifDefined(filters.itemId, (filterItemId) => eq(itemId, filterItemId)),
      ifDefined(filters.requesterId, (filterRequesterId) => eq(requesterId, filterRequesterId)),
      ...createdWithin(createdAt, filters),
    ],
    anyOf: [filters.status && { column: status, values: filters.status }],
    search: and(
      ifDefined(filters.q, (words) => matchesText(search, words)),
      ifDefined(filters.approverId, awaitsApprovalBy),
      ifDefined(filters.assigneeId, hasTaskOf),
    ),
  }
}

/**
 * Condition: requests the person may still decide on. The status is a literal rather than a parameter, because the
 * partial index covers this status only.
 */
function awaitsApprovalBy(userId: string): SQL | undefined {
  const { status, requesterId, requestedFor, awaitedIds, decidedIds } = catalogRequests
  return and(
    sql`${status} = 'awaiting_approval'`,
    or(includesUser(awaitedIds, userId), includesAnyone(awaitedIds)),
    not(includesUser(decidedIds, userId)),
    ne(requesterId, userId),
    ne(requestedFor, userId),
  )
}

const hasTaskOf = (userId: string): SQL | undefined =>
  and(sql`${catalogRequests.status} = 'fulfilling'`, includesUser(catalogRequests.assigneeIds, userId))

const inTenant = (table: KeysetTable, { workspaceId, environment }: TenantScope): SQL | undefined =>
  and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))

const Plan = z.object({ tasks: z.array(PlannedTask) })

/** Returns the fulfillment plan of requests pinned to this revision. */
export async function findPlan(
  db: Drizzle,
  tenant: TenantScope,
  itemId: string,
  revision: number,
): Promise<PlannedTask[]> {
  const [row] = await db
    .select({ state: catalogItemRevisions.state })
    .from(catalogItemRevisions)
    .where(
      and(
        inTenant(catalogItemRevisions, tenant),
        eq(catalogItemRevisions.id, revisionRowId(itemId, revision)),
      ),
    )
  if (!row) throw new Error(`Revision ${revision} of ${itemId} does not exist.`)
  return Plan.parse(row.state).tasks
}
