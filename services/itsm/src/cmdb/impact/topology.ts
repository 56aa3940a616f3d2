import {
  type CiTopology,
  impactTypes,
  type RelationType,
  relationImpact,
  type TenantScope,
} from '@opsplane/contracts'
import { relationsFromItems, relationsToItems } from '../by-ids.js'
import { readColumns, readColumnsUpTo, type StatementRunner } from '../columns.js'
import { buildGraph, type Graph, graphReader, selectSubgraph } from './graph.js'
import { splitWords } from './string-interner.js'
import { type Walked, walk } from './walk.js'

/** Upstream: the dependencies of an item. Downstream: its dependents. */
export type Direction = 'upstream' | 'downstream' | 'both'

export interface TopologyOptions {
  tenant: TenantScope
  types?: RelationType[] | undefined
  /** Maximum number of nodes. */
  limit: number
}

export interface AroundOptions extends TopologyOptions {
  itemId: string
  depth: number
  direction: Direction
}

/** There are more relations than items, but a graph too dense to draw is truncated. */
const edgesPerNode = 10

/** If a level has more relations than this, the tenant's whole graph is read instead, unless it exceeds the limits. */
const wideLevel = 1_000
/** The last level may be wider, because it is not expanded further. */
const wideLastLevel = 3_000
/** Up to this number of nodes, reading them by id is faster than reading the whole graph. */
const smallAnswer = 3_000

/**
 * Returns the graph around an item. Each level takes one statement that reads the neighbours of the previous level, so
 * the number of statements depends only on the depth. Once a level is wide, all items and relations are read
 * concurrently and walked in memory instead, because most of them are part of a large result anyway.
 */
export async function topologyAround(sql: StatementRunner, options: AroundOptions): Promise<CiTopology> {
  const near = await walkInDatabase(sql, options, options.limit > smallAnswer)
  if (!near.tooWide) return readTopology(sql, options, near)
  const reader = graphReader(sql, options.tenant)
  const [items, relations] = await Promise.all([reader.allItems(), reader.allRelations(options.types)])
  if (!relations) return readTopology(sql, options, await walkInDatabase(sql, options, false))
  const graph = buildGraph(items, relations)
  if (items) return topologyAroundIn(graph, options)
  const walkResult = await walkInMemory(graph, options)
  const depths = new Map([...walkResult.depths].map(([number, depth]) => [graph.idOf(number), depth]))
  const read = buildGraph(await reader.itemsOf([...depths.keys()]), relations)
  return toTopology(read, options, walkResult, (number) => depths.get(read.idOf(number)))
}

/** Returns the part of an already loaded graph that can be reached from an item. */
export async function topologyAroundIn(graph: Graph, options: AroundOptions): Promise<CiTopology> {
  const walkResult = await walkInMemory(graph, options)
  return toTopology(graph, options, walkResult, (number) => walkResult.depths.get(number))
}

/** Returns the whole graph, oldest items first. */
export async function wholeTopology(sql: StatementRunner, options: TopologyOptions): Promise<CiTopology> {
  const { tenant, limit, types } = options
  const reader = graphReader(sql, tenant)
  const [items, all] = await Promise.all([
    reader.oldestItems(limit + 1),
    limit > smallAnswer ? reader.allRelations(types) : null,
  ])
  const relations =
    all ??
    (await reader.relationsAmong(splitWords(items.id).slice(0, limit), types, limit * edgesPerNode + 1))
  return wholeTopologyIn(buildGraph(items, relations), options)
}

/** Like `wholeTopology`, for an already loaded graph whose items are sorted oldest first. */
export function wholeTopologyIn(graph: Graph, { limit }: TopologyOptions): CiTopology {
  const depthOf = (number: number) => (number < limit ? null : undefined)
  const { nodes, edges, truncated } = selectSubgraph({ graph, depthOf, maxEdges: limit * edgesPerNode })
  return { nodes, edges, truncated: truncated || graph.items.size > limit, depth: null }
}

/** Reads the items that a walk reached by their ids, with their relations. */
async function readTopology(
  sql: StatementRunner,
  options: AroundOptions,
  walkResult: Walked<string>,
): Promise<CiTopology> {
  const { tenant, types, limit } = options
  const reader = graphReader(sql, tenant)
  const ids = [...walkResult.depths.keys()]
  const [items, relations] = await Promise.all([
    reader.itemsOf(ids),
    reader.relationsAmong(ids, types, limit * edgesPerNode + 1),
  ])
  const graph = buildGraph(items, relations)
  return toTopology(graph, options, walkResult, (number) => walkResult.depths.get(graph.idOf(number)))
}

function toTopology(
  graph: Graph,
  { limit }: TopologyOptions,
  walkResult: Pick<Walked<unknown>, 'truncated'>,
  depthOf: (number: number) => number | undefined,
): CiTopology {
  const { nodes, edges, truncated } = selectSubgraph({ graph, depthOf, maxEdges: limit * edgesPerNode })
  const depth = nodes.reduce((deepest, node) => Math.max(deepest, node.depth ?? 0), 0)
  return { nodes, edges, truncated: walkResult.truncated || truncated, depth }
}

/** Walks with one statement per level. With `stopsAtWideLevel`, stops at a wide level. */
function walkInDatabase(
  sql: StatementRunner,
  options: AroundOptions,
  stopsAtWideLevel: boolean,
): Promise<Walked<string>> {
  const { itemId: start, depth, limit } = options
  const expand = (frontier: string[], last: boolean) => {
    const wide = last ? wideLastLevel : wideLevel
    return neighbours(sql, options, frontier, stopsAtWideLevel ? wide : null)
  }
  return walk({ start, depth, limit, idOf: (id) => id, beyond: expand })
}

/**
 * Returns the neighbours of the frontier in the wanted direction; `null` if more than `maxRows` relations lead
 * to them.
 */
async function neighbours(
  sql: StatementRunner,
  { tenant, direction, types }: AroundOptions,
  frontier: string[],
  maxRows: number | null,
): Promise<string[] | null> {
  const { toTarget, toSource } = selectFollowedTypes(direction, types)
  const from = (union: string) => `(
    select target_id as id from ${relationsFromItems('$4')}
    ${union}
    select source_id from ${relationsToItems('$5')}
    ) reached`
  const parameters = [tenant.workspaceId, tenant.environment, frontier, toTarget, toSource]
  const found =
    maxRows === null
      ? await readColumns(sql, { words: ['id'] }, from('union'), parameters)
      : await readColumnsUpTo(maxRows, sql, { words: ['id'] }, from('union all'), parameters)
  return found && [...new Set(splitWords(found.id))]
}

/** Walks over relations that are already in memory. */
function walkInMemory(
  graph: Graph,
  { itemId, depth, limit, direction, types }: AroundOptions,
): Promise<Walked<number>> {
  const { relations } = graph
  const { toTarget, toSource } = selectFollowedTypes(direction, types)
  const down = markTypes(relations.type, toTarget)
  const up = toSource === toTarget ? down : markTypes(relations.type, toSource)
  const start = graph.numberOf(itemId)
  /**
   * By item number: the level from which the item is expanded;
   * -1 until that is set, 0 while the item has not been found.
   */
  const levels = new Int8Array(graph.size())
  let level = 0
  const expand = async (frontier: number[]) => {
    level++
    for (const number of frontier) levels[number] = level
    const found: number[] = []
    const reach = (number: number) => {
      levels[number] = -1
      found.push(number)
    }
    for (let at = 0; at < relations.size; at++) {
      const source = relations.source[at] as number
      const target = relations.target[at] as number
      if (levels[source] === level && levels[target] === 0 && down[at] === 1) reach(target)
      else if (levels[target] === level && levels[source] === 0 && up[at] === 1) reach(source)
    }
    return found
  }
  return walk({ start, depth, limit, idOf: graph.idOf, beyond: expand })
}

/** Returns 1 for each relation of a wanted type, otherwise 0. */
function markTypes(types: string[], selectedTypes: readonly string[]): Uint8Array {
  const selectedSet = new Set(selectedTypes)
  const passes = new Uint8Array(types.length)
  for (let at = 0; at < types.length; at++) passes[at] = Number(selectedSet.has(types[at] as string))
  return passes
}

/** Returns the types followed from source to target and the types followed from target to source. */
function selectFollowedTypes(direction: Direction, types: RelationType[] | undefined) {
  const followedTypes = types ?? (Object.keys(relationImpact) as RelationType[])
  if (direction === 'both') return { toTarget: followedTypes, toSource: followedTypes }
  const passing = followedTypes.filter((type) => impactTypes.includes(type))
  const down = passing.filter((type) => relationImpact[type] === 'to_target')
  const up = passing.filter((type) => relationImpact[type] === 'to_source')
  return direction === 'downstream' ? { toTarget: down, toSource: up } : { toTarget: up, toSource: down }
}
