import type { RelationType, TenantScope } from '@opsplane/contracts'
import { existsCondition, type PastOf, pastRows } from '@opsplane/eventstore'
import type { Selection } from '@opsplane/postgres'
import { and, eq, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type CreatedFilters, createdWithin } from '../../lists/created-filters.js'
import { tenantConditions } from '../../lists/tenant-conditions.js'
import { configurationItems as items, ciRelations as relations } from '../../schema/cmdb.js'
import { isEitherEnd, matchesItem } from '../queries.js'

export interface RelationFilters extends CreatedFilters {
  itemId?: string | undefined
  /** Restricts the relations of `itemId` to those from it (outgoing) or to it (incoming). */
  direction?: 'outgoing' | 'incoming' | undefined
  sourceId?: string | undefined
  targetId?: string | undefined
  type?: RelationType[] | undefined
  q?: string | undefined
}

export function relationSelection(
  filters: RelationFilters,
  tenant: TenantScope,
  asOf: string | undefined,
): Selection {
  const { type, q, itemId } = filters
  const { createdAt, sourceId, targetId } = relations
  const ofItem = asOf === undefined && (itemId ?? filters.sourceId ?? filters.targetId) !== undefined
  const words = q === undefined ? {} : wordsOfEnds(q, { itemId, ofItem }, tenant, asOf)
  const types = type && { column: relations.type, values: type }
  const where = [
    ends(filters),
    filters.sourceId === undefined ? undefined : eq(sourceId, filters.sourceId),
    filters.targetId === undefined ? undefined : eq(targetId, filters.targetId),
    ...createdWithin(createdAt, filters),
  ]
  // The relations of one item are found by its id; their types are then filtered row by row.
  if (ofItem) return { where: [...where, type && inArray(relations.type, type)], ...words }
  return { where, anyOf: [types], ...words }
}

function ends({ itemId, direction }: RelationFilters): SQL | undefined {
  if (itemId === undefined) return undefined
  if (direction === undefined) return isEitherEnd(itemId)
  return eq(direction === 'outgoing' ? relations.sourceId : relations.targetId, itemId)
}

/**
 * A relation is searched by the words of the items at its ends. For the
 * relations of one item, only the words of the item at the other end count.
 */
function wordsOfEnds(
  q: string,
  { itemId, ofItem }: { itemId: string | undefined; ofItem: boolean },
  tenant: TenantScope,
  asOf: string | undefined,
): Pick<Selection, 'search' | 'searchOfRow'> {
  const found = and(matchesItem(q), itemId === undefined ? undefined : ne(items.id, itemId))
  const { sourceId, targetId } = relations
  if (asOf !== undefined) {
    const past: PastOf = { table: items, tenant, asOf }
    return {
      search: sql`exists (
        select 1 from unnest(array[${sourceId}, ${targetId}]) ends(id) ${pastRows(past, sql`ends.id`)}
        where ${and(existsCondition(past), found)})`,
    }
  }
  const tenants = tenantConditions(items, tenant)
  // Written as a scalar subquery, so that it looks up one row per end, whatever index the words have.
  const endHas = (end: SQL) => sql`(select ${found} from ${items} where ${and(...tenants, end)}) is true`
  const searchOfRow = or(endHas(eq(items.id, sourceId)), endHas(eq(items.id, targetId)))
  const ids = sql`select id from ${items} where ${and(...tenants, found)}`
  // One item may have many relations. Each of them is looked up among the matching items, which Postgres hashes once.
  if (ofItem) return { search: or(inFound(sourceId, ids), inFound(targetId, ids)), searchOfRow }
  return { search: sql`(${sourceId} = any(array(${ids})) or ${targetId} = any(array(${ids})))`, searchOfRow }
}

const inFound = (end: PgColumn, ids: SQL) => sql`${end} in (${ids})`
