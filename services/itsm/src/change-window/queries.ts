import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { configurationItems } from '../cmdb/tables.js'
import type { WindowFilters } from './list-filters.js'
import { changeWindows as table } from './tables.js'

/** The time from a window's first beginning to its last end, as the index made by hand has it. */
const wholeTime = sql`planned_span(${table.startsAt}, ${table.endsAt})`

export function windowConditions(filters: WindowFilters): (SQL | undefined)[] {
  const { kind, status, ciId, from, to } = filters
  return [
    kind && eq(table.kind, kind),
    status && eq(table.status, status),
    ciId === undefined ? undefined : covers(ciId),
    from === undefined && to === undefined
      ? undefined
      : sql`${wholeTime} && planned_span(${from ?? null}, ${to ?? null})`,
  ]
}

/** Its item or all of them, and its class or any. The item is looked up within the tenant of the window. */
function covers(ciId: string): SQL {
  const { ciIds, classes } = { ciIds: sql`${table.state}->'ciIds'`, classes: sql`${table.state}->'classes'` }
  const classOf = sql`(select ${configurationItems.class} from ${configurationItems}
    where ${configurationItems.workspaceId} = ${table.workspaceId}
      and ${configurationItems.environment} = ${table.environment} and ${configurationItems.id} = ${ciId})`
  return sql`(json_typeof(${ciIds}) = 'null' or (${ciIds})::jsonb @> to_jsonb(${ciId}::text))
    and (json_typeof(${classes}) = 'null' or (${classes})::jsonb @> to_jsonb(${classOf}))`
}

/** Of these items, those that are not in the CMDB of the tenant. */
export async function absentItems(db: Drizzle, tenant: TenantScope, ids: string[]): Promise<string[]> {
  const items = configurationItems
  const rows = await db
    .select({ id: items.id })
    .from(items)
    .where(
      and(
        eq(items.workspaceId, tenant.workspaceId),
        eq(items.environment, tenant.environment),
        inArray(items.id, ids),
      ),
    )
  const known = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}

/** How many windows are active and have not ended for good. */
export async function countCurrent(db: Drizzle, tenant: TenantScope, now: string): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, tenant.workspaceId),
        eq(table.environment, tenant.environment),
        eq(table.status, 'active'),
        sql`${wholeTime} && planned_span(${now}, null)`,
      ),
    )
  return row?.count ?? 0
}
