import type { RelationType, TenantScope } from '@opsplane/contracts'
import { rowAsOf } from '@opsplane/eventstore'
import type { Selection } from '@opsplane/postgres'
import { and, eq, gt, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import { eitherEnd, itemWords, within } from './queries.js'
import { configurationItems as items, ciRelations as relations } from './tables.js'

export interface RelationFilters {
  itemId?: string | undefined
  /** Of the relations of `itemId`, from it or to it. */
  direction?: 'outgoing' | 'incoming' | undefined
  sourceId?: string | undefined
  targetId?: string | undefined
  type?: RelationType[] | undefined
  q?: string | undefined
  createdAfter?: string | undefined
  createdBefore?: string | undefined
}

export function relationSelection(
  { type, ...filters }: RelationFilters,
  tenant: TenantScope,
  asOf: string | undefined,
): Selection {
  const { createdAt, sourceId, targetId } = relations
  return {
    where: [
      ends(filters),
      filters.sourceId === undefined ? undefined : eq(sourceId, filters.sourceId),
      filters.targetId === undefined ? undefined : eq(targetId, filters.targetId),
      filters.createdAfter === undefined ? undefined : gt(createdAt, filters.createdAfter),
      filters.createdBefore === undefined ? undefined : lt(createdAt, filters.createdBefore),
    ],
    anyOf: [type && { column: relations.type, values: type }],
    ...(filters.q !== undefined && wordsOfEnds(filters.q, filters.itemId, tenant, asOf)),
  }
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
  if (asOf !== undefined)
    return {
      search: sql`exists (
        select 1 from unnest(array[${sourceId}, ${targetId}]) ends(id)
        cross join lateral ${rowAsOf(items, sql`ends.id`, tenant, asOf)} where ${found})`,
    }
  const tenants = within(items, tenant)
  // In the select list, so that each is a look at one row, whatever index the words have.
  const endHas = (end: SQL) => sql`(select ${found} from ${items} where ${and(...tenants, end)}) is true`
  const related = (end: 'source_id' | 'target_id') => sql`
    select relation.id from ${relations} relation join found on relation.${sql.raw(end)} = found.id
    where relation.workspace_id = ${tenant.workspaceId} and relation.environment = ${tenant.environment}`
  return {
    search: sql`${relations.id} in (
      with found as materialized (select id from ${items} where ${and(...tenants, found)})
      ${related('source_id')} union all ${related('target_id')})`,
    searchOfRow: or(endHas(eq(items.id, sourceId)), endHas(eq(items.id, targetId))),
  }
}
