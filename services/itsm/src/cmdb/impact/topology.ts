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

/** Relations outnumber items, but a graph too dense to draw is truncated. */
const edgesPerNode = 10

/** From so many relations out of a level on, the tenant's graph is read at once, as far as it is not too much. */
const wideLevel = 1_000
/** Of the last level more may be asked for by id: it is not followed any further. */
const wideLastLevel = 3_000
/** An answer of so few nodes is read by their ids faster than the whole. */
const smallAnswer = 3_000

/**
 * What can be reached from an item: one statement for each level asks for what lies beyond the items of the level
 * before, so the number of statements depends on the depth alone. As soon as a level is wide, items and relations are
 * read as a whole instead, side by side, and followed here, since maxRows of them are part of the answer anyhow.
 */
export async function topologyAround(sql: StatementRunner, options: AroundOptions): Promise<CiTopology> {
  const near = await walkInDatabase(sql, options, options.limit > smallAnswer)
  if (!near.tooWide) return readTopology(sql, options, near)
  const reader = graphReader(sql, options.tenant)
  const [items, relations] = await Promise.all([reader.allItems(), reader.allRelations(options.types)])
  if (!relations) return readTopology(sql, options, await walkInDatabase(sql, options, false))
  const graph = buildGraph(items, relations)
  if (items) return topologyAroundIn(graph, options)
  const walked = await walkInMemory(graph, options)
  const depths = new Map([...walked.depths].map(([number, depth]) => [graph.idOf(number), depth]))
  const read = buildGraph(await reader.itemsOf([...depths.keys()]), relations)
  return toTopology(read, options, walked, (number) => depths.get(read.idOf(number)))
}

/** What can be reached from an item in a graph that was read already. */
export async function topologyAroundIn(graph: Graph, options: AroundOptions): Promise<CiTopology> {
  const walked = await walkInMemory(graph, options)
  return toTopology(graph, options, walked, (number) => walked.depths.get(number))
}

/** The whole graph, oldest items first. */
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

/** The same of a graph that was read already, oldest items first. */
export function wholeTopologyIn(graph: Graph, { limit }: TopologyOptions): CiTopology {
  const depthOf = (number: number) => (number < limit ? null : undefined)
  const { nodes, edges, truncated } = selectSubgraph({ graph, depthOf, maxEdges: limit * edgesPerNode })
  return { nodes, edges, truncated: truncated || graph.items.size > limit, depth: null }
}

/** The answer of what was reached, read by its ids. */
async function readTopology(
  sql: StatementRunner,
  options: AroundOptions,
  walked: Walked<string>,
): Promise<CiTopology> {
  const { tenant, types, limit } = options
  const reader = graphReader(sql, tenant)
  const ids = [...walked.depths.keys()]
  const [items, relations] = await Promise.all([
    reader.itemsOf(ids),
    reader.relationsAmong(ids, types, limit * edgesPerNode + 1),
  ])
  const graph = buildGraph(items, relations)
  return toTopology(graph, options, walked, (number) => walked.depths.get(graph.idOf(number)))
}

function toTopology(
  graph: Graph,
  { limit }: TopologyOptions,
  walked: Pick<Walked<unknown>, 'truncated'>,
  depthOf: (number: number) => number | undefined,
): CiTopology {
  const { nodes, edges, truncated } = selectSubgraph({ graph, depthOf, maxEdges: limit * edgesPerNode })
  const depth = nodes.reduce((deepest, node) => Math.max(deepest, node.depth ?? 0), 0)
  return { nodes, edges, truncated: walked.truncated || truncated, depth }
}

/** By a statement for each level; given up at a wide one, where that is wanted. */
function walkInDatabase(
  sql: StatementRunner,
  options: AroundOptions,
  giveUp: boolean,
): Promise<Walked<string>> {
  const { itemId: start, depth, limit } = options
  const beyond = (frontier: string[], last: boolean) => {
    const wide = last ? wideLastLevel : wideLevel
    return neighbours(sql, options, frontier, giveUp ? wide : null)
  }
  return walk({ start, depth, limit, idOf: (id) => id, beyond })
}

/** The items one relation away in the wanted direction; null where there are more than `maxRows` relations to them. */
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

/** The same through relations that were read already. */
function walkInMemory(
  graph: Graph,
  { itemId, depth, limit, direction, types }: AroundOptions,
): Promise<Walked<number>> {
  const { relations } = graph
  const { toTarget, toSource } = selectFollowedTypes(direction, types)
  const down = markTypes(relations.type, toTarget)
  const up = toSource === toTarget ? down : markTypes(relations.type, toSource)
  const start = graph.numberOf(itemId)
  /** By item, the level that is gone on from at it; negative until that is known, and 0 while it is not found. */
  const levels = new Int8Array(graph.size())
  let level = 0
  const beyond = async (frontier: number[]) => {
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
  return walk({ start, depth, limit, idOf: graph.idOf, beyond })
}

/** 1 for each relation of one of the types. */
function markTypes(types: string[], wanted: readonly string[]): Uint8Array {
  const among = new Set(wanted)
  const passes = new Uint8Array(types.length)
  for (let at = 0; at < types.length; at++) passes[at] = Number(among.has(types[at] as string))
  return passes
}

/** The types followed from source to target, and those followed from target to source. */
function selectFollowedTypes(direction: Direction, types: RelationType[] | undefined) {
  const wanted = types ?? (Object.keys(relationImpact) as RelationType[])
  if (direction === 'both') return { toTarget: wanted, toSource: wanted }
  const passing = wanted.filter((type) => impactTypes.includes(type))
  const down = passing.filter((type) => relationImpact[type] === 'to_target')
  const up = passing.filter((type) => relationImpact[type] === 'to_source')
  return direction === 'downstream' ? { toTarget: down, toSource: up } : { toTarget: up, toSource: down }
}
