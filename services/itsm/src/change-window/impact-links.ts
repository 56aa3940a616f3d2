import { type TenantScope, tenantKey } from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import { type StatementRunner, statement } from '../cmdb/columns.js'
import { toSource, toTarget } from '../cmdb/impact/impact-graph.js'
import type { ImpactLinks } from './links-in-memory.js'
import { type LinkPair, linksInMemory } from './links-in-memory.js'

/** Walks in the database with one statement per hop. Each returns at most as many items as the limit still allows. */
export function linksInDatabase(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
): ImpactLinks {
  return {
    async walk(direction, starts, { maxItems, maxHops }) {
      const origins = new Map(starts.map((id) => [id, id]))
      const originByItem = new Map<string, string>()
      const byTarget = direction === 'dependents' ? toSource : toTarget
      const bySource = direction === 'dependents' ? toTarget : toSource
      let frontier = [...origins]
      for (let hops = 1; hops <= maxHops && frontier.length > 0 && originByItem.size < maxItems; hops++) {
        const rows = await statement<{ id: string; origin: string }>(sql, hopStatement, [
          ...[workspaceId, environment, frontier.map(([id]) => id), frontier.map(([, origin]) => origin)],
          ...[byTarget, bySource, [...origins.keys()], String(maxItems - originByItem.size)],
        ])
        frontier = rows.map(({ id, origin }) => [id, origin])
        for (const [id, origin] of frontier) {
          origins.set(id, origin)
          originByItem.set(id, origin)
        }
      }
      return originByItem
    },
  }
}

/*
 * The tenant of a relation is the tenant of its items. Ids are compared byte by byte, as in memory.
 * Lists of ids are joined with `unnest`; see ADR 023.
 */
const hopStatement = `select id collate "C" as id, min(origin collate "C") as origin from (
    select r.source_id as id, f.origin from unnest($3::text[], $4::text[]) f(id, origin)
      join ci_relations r on r.target_id = f.id
     where r.workspace_id = $1 and r.environment = $2 and r.type = any($5::text[])
    union all
    select r.target_id, f.origin from unnest($3::text[], $4::text[]) f(id, origin)
      join ci_relations r on r.source_id = f.id
     where r.workspace_id = $1 and r.environment = $2 and r.type = any($6::text[])) met
  where id not in (select unnest($7::text[]))
  group by 1 order by 1 limit $8::int`

export interface SharingLimits {
  /** Once the walks have met this many items, or cost as much, reading all relations of the tenant pays off. */
  wide: number
  /** Maximum number of relations of a tenant that are read into memory. */
  maxRelations: number
}

const sharingLimits: SharingLimits = { wide: 2_000, maxRelations: 500_000 }
const rowsAtATime = 10_000
/** Cost of a walk in addition to the items it meets: even a walk that meets none needs a statement. */
const walkCost = 20

/**
 * Links shared by many walks at one time. Once these have met many items, all relations of the tenant are read and
 * walked in memory. If there are too many relations, the walks continue in the database.
 */
export function sharedLinks(
  sql: StatementRunner,
  tenant: TenantScope,
  { wide, maxRelations }: SharingLimits = sharingLimits,
): SharedLinks {
  const near = linksInDatabase(sql, tenant)
  let met = 0
  let whole: ImpactLinks | null | undefined
  return {
    inMemory: () => whole !== undefined && whole !== null,
    async walk(direction, starts, limits) {
      met += starts.length
      if (met > wide && whole === undefined) whole = await readTenantLinks(sql, tenant, maxRelations)
      const originByItem = await (whole ?? near).walk(direction, starts, limits)
      met += originByItem.size + walkCost
      return originByItem
    },
  }
}

export interface SharedLinks extends ImpactLinks {
  /** Whether all relations are in memory, so that another walk costs almost nothing. */
  inMemory(): boolean
}

/** Returns the relations of a tenant, shared by everything that is computed for one batch of events. */
export type TenantLinks = (tenant: TenantScope) => SharedLinks

export function createTenantLinks(sql: StatementRunner): TenantLinks {
  const known = new Map<string, SharedLinks>()
  return (tenant) => {
    const key = tenantKey(tenant)
    const links = known.get(key) ?? sharedLinks(sql, tenant)
    known.set(key, links)
    return links
  }
}

/** Returns `null`, without reading any relation, if there are more than `maxRelations`. */
export async function readTenantLinks(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  maxRelations = sharingLimits.maxRelations,
): Promise<ImpactLinks | null> {
  const tenant = [workspaceId, environment]
  const [row] = await statement<{ count: number }>(sql, countStatement, [...tenant, String(maxRelations + 1)])
  if (row === undefined || row.count > maxRelations) return null
  const parts = sql.unsafe<LinkPair[]>(allStatement, [...tenant, toSource, toTarget]).cursor(rowsAtATime)
  try {
    return await linksInMemory(parts)
  } catch (error) {
    throw translatePostgresError(error)
  }
}

const countStatement = `select count(*)::int as count from (
    select from ci_relations where workspace_id = $1 and environment = $2 limit $3::int) counted`

const allStatement = `select case when type = any($3::text[]) then source_id else target_id end as dependent,
         case when type = any($3::text[]) then target_id else source_id end as dependency
    from ci_relations
   where workspace_id = $1 and environment = $2 and type = any($3::text[] || $4::text[])`
