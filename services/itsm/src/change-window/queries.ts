import { builtInClasses, type TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { tenantConditions } from '../lists/tenant-conditions.js'
import { changeWindows as table } from '../schema/change-window.js'
import { ciClasses, configurationItems } from '../schema/cmdb.js'
import type { WindowFilters } from './list-filters.js'

/** The time from a window's first beginning to its last end, as the index made by hand has it. */
const wholeTime = sql`planned_span(${table.startsAt}, ${table.endsAt})`

/** An item as a filter needs it. Null: there was no such item. */
export interface FilterItem {
  id: string
  class: string | null
}

/** With `item` for the filter `ciId`: its class is a value here, so that conditions speak of windows alone. */
export function windowSelection(
  { kind, status, from, to, q }: WindowFilters,
  item: FilterItem | undefined,
): Selection {
  return {
    where: [item && covers(item)],
    anyOf: [kind && { column: table.kind, values: kind }, status && { column: table.status, values: status }],
    // What an index of words or of times finds is sorted afterwards.
    search: and(
      q === undefined ? undefined : matchesText(table.search, q),
      from === undefined && to === undefined
        ? undefined
        : sql`${wholeTime} && planned_span(${from ?? null}, ${to ?? null})`,
    ),
  }
}

/** Its item or all of them, and its class or any. */
function covers({ id, class: ciClass }: FilterItem): SQL {
  const { ciIds, classes } = { ciIds: sql`${table.state}->'ciIds'`, classes: sql`${table.state}->'classes'` }
  return sql`(json_typeof(${ciIds}) = 'null' or (${ciIds})::jsonb @> to_jsonb(${id}::text))
    and (json_typeof(${classes}) = 'null' or (${classes})::jsonb @> to_jsonb(${ciClass}::text))`
}

/** Of these items, those that are not in the CMDB of the tenant. */
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

/** Of these classes, those that are neither built-in nor the tenant's own. */
export async function absentClasses(db: Drizzle, tenant: TenantScope, names: string[]): Promise<string[]> {
  const wanted = names.filter((name) => !Object.hasOwn(builtInClasses, name))
  if (wanted.length === 0) return []
  const rows = await db
    .select({ name: ciClasses.name })
    .from(ciClasses)
    .where(and(...tenantConditions(ciClasses, tenant), inArray(ciClasses.name, wanted)))
  const known = new Set(rows.map(({ name }) => name))
  return wanted.filter((name) => !known.has(name))
}

/** How many windows are active and have a present or future occurrence. */
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
