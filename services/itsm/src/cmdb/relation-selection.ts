import type { RelationType, TenantScope } from '@opsplane/contracts'
import { isThere, type PastOf, pastRows } from '@opsplane/eventstore'
import type { Selection } from '@opsplane/postgres'
import { and, eq, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import { type CreatedFilters, createdWithin } from '../lists/created.js'
import { eitherEnd, itemWords, within } from './queries.js'
import { configurationItems as items, ciRelations as relations } from './tables.js'

export interface RelationFilters extends CreatedFilters {
  itemId?: string | undefined
  /** Of the relations of `itemId`, from it or to it. */
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
  const words = q === undefined ? {} : wordsOfEnds(q, itemId, tenant, asOf)
  const types = type && { column: relations.type, values: type }
  const where = [
    ends(filters),
    filters.sourceId === undefined ? undefined : eq(sourceId, filters.sourceId),
    filters.targetId === undefined ? undefined : eq(targetId, filters.targetId),
    ...createdWithin(createdAt, filters),
  ]
  if (asOf !== undefined || (itemId ?? filters.sourceId ?? filters.targetId) === undefined)
    return { where, anyOf: [types], ...words }
  // The relations of one item are found by it, and asked for everything else one by one.
  return { where: [...where, type && inArray(relations.type, type), words.searchOfRow] }
}

function ends({ itemId, direction }: RelationFilters): SQL | undefined {
  if (itemId === undefined) return undefined
  if (direction === undefined) return eitherEnd(itemId)
  return eq(direction === 'outgoing' ? relations.sourceId : relations.targetId, itemId)
}

/**
 * A relation has no words of its own but those of the items at its ends; of the relations of one item, those of the
 * item at the other end.
 */
function wordsOfEnds(
  q: string,
  itemId: string | undefined,
  tenant: TenantScope,
  asOf: string | undefined,
): Pick<Selection, 'search' | 'searchOfRow'> {
  const found = and(itemWords(q), itemId === undefined ? undefined : ne(items.id, itemId))
  const { sourceId, targetId } = relations
  if (asOf !== undefined) {
    const past: PastOf = { table: items, tenant, asOf }
    return {
      search: sql`exists (
        select 1 from unnest(array[${sourceId}, ${targetId}]) ends(id) ${pastRows(past, sql`ends.id`)}
        where ${and(isThere(past), found)})`,
    }
  }
  const tenants = within(items, tenant)
  // In the select list, so that each is a look at one row, whatever index the words have.
  const endHas = (end: SQL) => sql`(select ${found} from ${items} where ${and(...tenants, end)}) is true`
  const ids = sql`array(select id from ${items} where ${and(...tenants, found)})`
  return {
    search: sql`(${sourceId} = any(${ids}) or ${targetId} = any(${ids}))`,
    searchOfRow: or(endHas(eq(items.id, sourceId)), endHas(eq(items.id, targetId))),
  }
}
