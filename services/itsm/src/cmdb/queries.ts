import { type CiStatus, Criticality, type TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, count, eq, or, type SQL, sql } from 'drizzle-orm'
import { type CreatedFilters, createdWithin } from '../lists/created-filters.js'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { equalsOrUnassigned } from '../lists/unassigned.js'
import { ciClasses, ciRelations, configurationItems, openIncidents } from '../schema/cmdb.js'
import { incidents } from '../schema/incident.js'

export interface ItemFilters extends CreatedFilters {
  class?: string[] | undefined
  status?: CiStatus[] | undefined
  criticality?: Criticality[] | undefined
  owner?: string | undefined
  supportGroup?: string | undefined
  source?: string | undefined
  nativeKey?: string | undefined
  q?: string | undefined
}

export function itemSelection({
  class: classes,
  status,
  criticality,
  q,
  ...filters
}: ItemFilters): Selection {
  const table = configurationItems
  return {
    where: [
      equalsOrUnassigned(table.owner, filters.owner),
      equalsOrUnassigned(table.supportGroup, filters.supportGroup),
      filters.source === undefined ? undefined : eq(table.source, filters.source),
      filters.nativeKey === undefined ? undefined : eq(table.nativeKey, filters.nativeKey),
      ...createdWithin(table.createdAt, filters),
    ],
    anyOf: [
      classes && { column: table.class, values: classes },
      status && { column: table.status, values: status },
      criticality && { column: table.criticality, values: criticality },
    ],
    search: q === undefined ? undefined : matchesItem(q),
  }
}

/** Condition: the text search `q` matches the item. */
export function matchesItem(q: string): SQL | undefined {
  const { search, name } = configurationItems
  return or(matchesText(search, q), sql`${name} ilike ${toLikePattern(q)}`)
}

/** Condition: the item is the source or the target of the relation. */
export function isEitherEnd(itemId: string): SQL | undefined {
  return or(eq(ciRelations.sourceId, itemId), eq(ciRelations.targetId, itemId))
}

/** Returns the number of incidents about the item that are not resolved. */
export async function countOpenIncidents(db: Drizzle, tenant: TenantScope, itemId: string): Promise<number> {
  const [row] = await db
    .select({ value: count() })
    .from(incidents)
    .where(and(...tenantConditions(incidents, tenant), eq(incidents.ciId, itemId), openIncidents))
  return row?.value ?? 0
}

/** Returns the id of the item with this key in this source. */
export async function itemIdByKey(
  db: Drizzle,
  tenant: TenantScope,
  source: string,
  nativeKey: string,
): Promise<string | undefined> {
  const table = configurationItems
  const [row] = await db
    .select({ id: table.id })
    .from(table)
    .where(and(...tenantConditions(table, tenant), eq(table.source, source), eq(table.nativeKey, nativeKey)))
  return row?.id
}

/** Returns the status of an item; `undefined` if it does not exist. */
export async function itemStatus(
  db: Drizzle,
  tenant: TenantScope,
  id: string,
): Promise<string | null | undefined> {
  const table = configurationItems
  const [row] = await db
    .select({ status: table.status })
    .from(table)
    .where(and(...tenantConditions(table, tenant), eq(table.id, id)))
  return row?.status
}

/** Returns the criticality of an item; `null` if it does not exist. */
export async function itemCriticality(
  db: Drizzle,
  tenant: TenantScope,
  id: string,
): Promise<Criticality | null> {
  const table = configurationItems
  const [row] = await db
    .select({ criticality: table.criticality })
    .from(table)
    .where(and(...tenantConditions(table, tenant), eq(table.id, id)))
  return row === undefined ? null : Criticality.parse(row.criticality)
}

export async function countRelations(db: Drizzle, tenant: TenantScope, itemId: string): Promise<number> {
  const [row] = await db
    .select({ value: count() })
    .from(ciRelations)
    .where(and(...tenantConditions(ciRelations, tenant), isEitherEnd(itemId)))
  return row?.value ?? 0
}

/** Returns the workspace's row of a class, if there is one. */
export async function classRows(db: Drizzle, tenant: TenantScope, name: string) {
  return db
    .select({ id: ciClasses.id, state: ciClasses.state })
    .from(ciClasses)
    .where(and(...tenantConditions(ciClasses, tenant), eq(ciClasses.name, name)))
}

/** Escapes `%` and `_` so that they match literally. */
function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
