import { builtInClasses, type TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { changeWindows as table } from '../schema/change-window.js'
import { ciClasses, configurationItems } from '../schema/cmdb.js'
import type { WindowFilters } from './list-filters.js'

/** Span from a window's first beginning to its last end. Must match the expression of the hand-written index. */
const wholeTime = sql`planned_span(${table.startsAt}, ${table.endsAt})`

/** An item as the filter `ciId` needs it. A `null` class means there was no such item. */
export interface FilterItem {
  id: string
  class: string | null
}

/**
 * Selection of windows. `item` is given for the filter `ciId`; its
 * class is passed as a value, so that the conditions need no join.
 */
export function windowSelection(
  { kind, status, from, to, q }: WindowFilters,
  item: FilterItem | undefined,
): Selection {
  return {
    where: [item && covers(item)],
    anyOf: [kind && { column: table.kind, values: kind }, status && { column: table.status, values: status }],
    // Results of the text index or the time index have to be sorted afterwards.
    search: and(
      q === undefined ? undefined : matchesText(table.search, q),
      from === undefined && to === undefined
        ? undefined
        : sql`${wholeTime} && planned_span(${from ?? null}, ${to ?? null})`,
    ),
  }
}

/** Condition: the window names the item or applies to all items, and names its class or applies to any. */
function covers({ id, class: ciClass }: FilterItem): SQL {
  const { ciIds, classes } = { ciIds: sql`${table.state}->'ciIds'`, classes: sql`${table.state}->'classes'` }
  return sql`(json_typeof(${ciIds}) = 'null' or (${ciIds})::jsonb @> to_jsonb(${id}::text))
    and (json_typeof(${classes}) = 'null' or (${classes})::jsonb @> to_jsonb(${ciClass}::text))`
}

/** Returns those of the ids that do not exist in the CMDB of the tenant. */
export async function absentItems(db: Drizzle, tenant: TenantScope, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const items = configurationItems
  const rows = await db
    .select({ id: items.id })
    .from(items)
    .where(and(...tenantConditions(items, tenant), inArray(items.id, ids)))
  const known = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}

/** Returns those of the names that are neither a built-in class nor a class of the tenant. */
export async function absentClasses(db: Drizzle, tenant: TenantScope, names: string[]): Promise<string[]> {
  const customNames = names.filter((name) => !Object.hasOwn(builtInClasses, name))
  if (customNames.length === 0) return []
  const rows = await db
    .select({ name: ciClasses.name })
    .from(ciClasses)
    .where(and(...tenantConditions(ciClasses, tenant), inArray(ciClasses.name, customNames)))
  const known = new Set(rows.map(({ name }) => name))
  return customNames.filter((name) => !known.has(name))
}

/** Returns the number of active windows with a present or future occurrence. */
export async function countCurrent(db: Drizzle, tenant: TenantScope, now: string): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(table)
    .where(
      and(
        ...tenantConditions(table, tenant),
        eq(table.status, 'active'),
        sql`${wholeTime} && planned_span(${now}, null)`,
      ),
    )
  return row?.count ?? 0
}
