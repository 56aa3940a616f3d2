import {
  type CiTopology,
  impactTypes,
  type RelationType,
  relationImpact,
  type TenantScope,
} from '@opsplane/contracts'
import { type Database, translatePostgresError } from '@opsplane/postgres'

/** Upstream is what an item depends on, downstream what depends on it. */
export type Direction = 'upstream' | 'downstream' | 'both'

export interface TopologyOptions {
  tenant: TenantScope
  types?: RelationType[] | undefined
  /** Most nodes. */
  limit: number
}

export interface AroundOptions extends TopologyOptions {
  itemId: string
  depth: number
  direction: Direction
}

type Edge = CiTopology['edges'][number]
type Item = Omit<CiTopology['nodes'][number], 'depth'>
type Sql = Database['sql']

/*
 * Lists of ids are joined as `unnest`, not compared with `any`: for the latter Postgres weighs every element against
 * its statistics, which for thousands of them takes longer than the query.
 */

/** Relations are more than items, but a graph nobody could draw is cut. */
const edgesPerNode = 10

/** From so many items in a level on, the graph of the tenant is read once, as far as it is not more than this. */
const wideLevel = 500
const readableRelations = 50_000
const readableItems = 20_000

/**
 * What can be reached from an item: one statement for each level asks for what lies beyond the items of the level
 * before, so the number of statements depends on the depth alone. Once a level is wide, items and relations are read as
 * a whole, side by side, and followed here, since most of them are part of the answer anyhow.
 */
export async function topologyAround(sql: Sql, options: AroundOptions): Promise<CiTopology> {
  const { tenant, limit } = options
  const depths = new Map([[options.itemId, 0]])
  let frontier = [options.itemId]
  let truncated = false
  let whole: Whole | undefined
  for (let depth = 1; depth <= options.depth && frontier.length > 0 && !truncated; depth++) {
    const room = limit - depths.size
    if (whole === undefined && frontier.length >= wideLevel) whole = await wholeOf(sql, options)
    const found = whole?.edges
      ? followedIn(whole.edges, options, frontier)
      : await neighbours(sql, options, frontier)
    // Sorted here, so that what is cut does not depend on the plan: a sort by Postgres would follow its collation.
    const fresh = found.filter((id) => !depths.has(id)).sort()
    truncated = fresh.length > room
    frontier = fresh.slice(0, room)
    for (const id of frontier) depths.set(id, depth)
  }
  const ids = [...depths.keys()]
  const maxEdges = limit * edgesPerNode
  const [nodes, edges] = await Promise.all([
    whole?.nodes ?? nodesOf(sql, tenant, ids),
    whole?.edges ?? edgesAmong(sql, options, ids, maxEdges + 1),
  ])
  const shown = nodes.flatMap((node) => {
    const depth = depths.get(node.id)
    return depth === undefined ? [] : [{ ...node, depth }]
  })
  const inside = between(shown, edges)
  return {
    nodes: shown,
    edges: inside.slice(0, maxEdges),
    truncated: truncated || inside.length > maxEdges,
    depth: shown.reduce((deepest, node) => Math.max(deepest, node.depth), 0),
  }
}

/** What an edge leads to is shown beside it, or the edge is not. */
function between(nodes: { id: string }[], edges: Edge[]): Edge[] {
  const shown = new Set(nodes.map(({ id }) => id))
  return edges.filter(({ sourceId, targetId }) => shown.has(sourceId) && shown.has(targetId))
}

/** The whole graph, oldest items first. */
export async function wholeTopology(sql: Sql, options: TopologyOptions): Promise<CiTopology> {
  const { tenant, limit } = options
  const rows = await statement<Item>(
    sql,
    `select id, name, class, status, criticality from configuration_items
      where workspace_id = $1 and environment = $2 order by created_at, id limit $3`,
    [tenant.workspaceId, tenant.environment, limit + 1],
  )
  const nodes = rows.slice(0, limit)
  const ids = nodes.map(({ id }) => id)
  const edges = await edgesAmong(sql, options, ids, limit * edgesPerNode + 1)
  return {
    nodes: nodes.map((node) => ({ ...node, depth: null })),
    edges: edges.slice(0, limit * edgesPerNode),
    truncated: rows.length > limit || edges.length > limit * edgesPerNode,
    depth: null,
  }
}

/** The items one relation away in the wanted direction, each once. */
async function neighbours(sql: Sql, options: AroundOptions, frontier: string[]): Promise<string[]> {
  const { tenant, direction, types } = options
  const { toTarget, toSource } = followed(direction, types)
  const rows = await statement<{ id: string }>(
    sql,
    `select target_id as id from ci_relations
      where workspace_id = $1 and environment = $2 and source_id in (select unnest($3::text[])) and type = any($4::text[])
     union
     select source_id from ci_relations
      where workspace_id = $1 and environment = $2 and target_id in (select unnest($3::text[])) and type = any($5::text[])`,
    [tenant.workspaceId, tenant.environment, frontier, toTarget, toSource],
  )
  return rows.map(({ id }) => id)
}

/** The same as `neighbours`, of relations that were read already. */
function followedIn(edges: Edge[], { direction, types }: AroundOptions, frontier: string[]): string[] {
  const { toTarget, toSource } = followed(direction, types)
  const [from, down, up] = [new Set(frontier), new Set(toTarget), new Set(toSource)]
  const found = new Set<string>()
  for (const { sourceId, targetId, type } of edges) {
    if (from.has(sourceId) && down.has(type)) found.add(targetId)
    if (from.has(targetId) && up.has(type)) found.add(sourceId)
  }
  return [...found]
}

/** The types followed from source to target, and those followed from target to source. */
function followed(direction: Direction, types: RelationType[] | undefined) {
  const wanted = types ?? (Object.keys(relationImpact) as RelationType[])
  if (direction === 'both') return { toTarget: wanted, toSource: wanted }
  const passing = wanted.filter((type) => impactTypes.includes(type))
  const down = passing.filter((type) => relationImpact[type] === 'to_target')
  const up = passing.filter((type) => relationImpact[type] === 'to_source')
  return direction === 'downstream' ? { toTarget: down, toSource: up } : { toTarget: up, toSource: down }
}

function nodesOf(sql: Sql, tenant: TenantScope, ids: string[]) {
  return statement<Item>(
    sql,
    `select id, name, class, status, criticality from configuration_items
      where workspace_id = $1 and environment = $2 and id in (select unnest($3::text[]))`,
    [tenant.workspaceId, tenant.environment, ids],
  )
}

/** All of a tenant; null where it is too much to be read at once. */
interface Whole {
  nodes: Item[] | null
  edges: Edge[] | null
}

async function wholeOf(sql: Sql, options: TopologyOptions): Promise<Whole> {
  const [nodes, edges] = await Promise.all([itemsOfTenant(sql, options), edgesOfTenant(sql, options)])
  return { nodes, edges }
}

async function itemsOfTenant(sql: Sql, { tenant }: TopologyOptions): Promise<Item[] | null> {
  const items = await statement<Item>(
    sql,
    `select id, name, class, status, criticality from configuration_items
      where workspace_id = $1 and environment = $2 limit $3`,
    [tenant.workspaceId, tenant.environment, readableItems + 1],
  )
  return items.length > readableItems ? null : items
}

async function edgesOfTenant(sql: Sql, { tenant, types }: TopologyOptions): Promise<Edge[] | null> {
  const edges = await statement<Edge>(
    sql,
    `select id, source_id as "sourceId", target_id as "targetId", type from ci_relations
      where workspace_id = $1 and environment = $2 and ($3::text[] is null or type = any($3::text[]))
      limit $4`,
    [tenant.workspaceId, tenant.environment, types ?? null, readableRelations + 1],
  )
  return edges.length > readableRelations ? null : edges
}

/** The relations with both ends among the items. */
function edgesAmong(
  sql: Sql,
  { tenant, types }: TopologyOptions,
  ids: string[],
  limit: number,
): Promise<Edge[]> {
  return statement<Edge>(
    sql,
    `select id, source_id as "sourceId", target_id as "targetId", type from ci_relations
      where workspace_id = $1 and environment = $2 and source_id in (select unnest($3::text[])) and target_id in (select unnest($3::text[]))
        and ($4::text[] is null or type = any($4::text[]))
      limit $5`,
    [tenant.workspaceId, tenant.environment, ids, types ?? null, limit],
  )
}

async function statement<Row extends object>(
  sql: Sql,
  text: string,
  parameters: (string | number | string[] | null)[],
): Promise<Row[]> {
  try {
    return await sql.unsafe<Row[]>(text, parameters)
  } catch (error) {
    throw translatePostgresError(error)
  }
}
