import type { CiTopology, RelationType, TenantScope } from '@opsplane/contracts'
import {
  type Columns,
  type Parameter,
  readColumns,
  readColumnsUpTo,
  type StatementRunner,
} from './columns.js'

/*
 * Lists of ids are joined as `unnest`, not compared with `any`: for the latter Postgres weighs every element against
 * its statistics, which for thousands of them takes longer than the query.
 */

export type Items = Columns<'id' | 'name' | 'class' | 'status' | 'criticality'>
export type Relations = Columns<'id' | 'source_id' | 'target_id' | 'type'>

/** Items and relations by number, so that thousands of steps look at numbers instead of ids. */
export interface Graph {
  items: Items
  relations: Relations
  /** By relation, the number of the item at each end. */
  sources: Int32Array
  targets: Int32Array
  /** Numbers begin with the items, in their order; then come ends that are none of them. */
  size(): number
  idOf(number: number): string
  numberOf(id: string): number
}

export const noItems: Items = { id: [], name: [], class: [], status: [], criticality: [], size: 0 }

export function graphOf(items: Items, relations: Relations): Graph {
  const ids = items.id.slice()
  const numbers = new Map<string, number>()
  for (let at = 0; at < ids.length; at++) numbers.set(ids[at] as string, at)
  const numberOf = (id: string) => {
    const known = numbers.get(id)
    if (known !== undefined) return known
    numbers.set(id, ids.length)
    return ids.push(id) - 1
  }
  const numbersOf = (column: string[]) => {
    const found = new Int32Array(column.length)
    for (let at = 0; at < column.length; at++) found[at] = numberOf(column[at] as string)
    return found
  }
  const [sources, targets] = [numbersOf(relations.source_id), numbersOf(relations.target_id)]
  const size = () => ids.length
  return { items, relations, sources, targets, size, idOf: (number) => ids[number] as string, numberOf }
}

/** No more of a tenant is read at once. */
export const readable = { items: 20_000, relations: 50_000 }

export interface Shown {
  graph: Graph
  /** By the number of an item; undefined where it is not shown. */
  depthOf(number: number): number | null | undefined
  maxEdges: number
}

/** The items that are shown and the relations between them: what an edge leads to is shown beside it, or the edge is not. */
export function shownOf({
  graph,
  depthOf,
  maxEdges,
}: Shown): Pick<CiTopology, 'nodes' | 'edges' | 'truncated'> {
  const { items, relations, sources, targets } = graph
  const shown = new Uint8Array(graph.size())
  const nodes: CiTopology['nodes'] = []
  for (let at = 0; at < items.size; at++) {
    const depth = depthOf(at)
    if (depth === undefined) continue
    shown[at] = 1
    nodes.push(nodeAt(items, at, depth))
  }
  const edges: CiTopology['edges'] = []
  for (let at = 0; at < relations.size; at++) {
    if (shown[sources[at] as number] !== 1 || shown[targets[at] as number] !== 1) continue
    if (edges.length === maxEdges) return { nodes, edges, truncated: true }
    edges.push(edgeAt(relations, at))
  }
  return { nodes, edges, truncated: false }
}

// What is read by column is of the types that the rows were written with.

function nodeAt(items: Items, at: number, depth: number | null) {
  const { id, name, class: className, status, criticality } = items
  return {
    id: id[at],
    name: name[at],
    class: className[at],
    status: status[at],
    criticality: criticality[at],
    depth,
  } as CiTopology['nodes'][number]
}

function edgeAt({ id, source_id, target_id, type }: Relations, at: number) {
  return {
    id: id[at],
    sourceId: source_id[at],
    targetId: target_id[at],
    type: type[at],
  } as CiTopology['edges'][number]
}

const ofTenant = 'where workspace_id = $1 and environment = $2'
const itemColumns = { words: ['id', 'class', 'status', 'criticality'], texts: ['name'] } as const
const relationColumns = { words: ['id', 'source_id', 'target_id', 'type'] } as const

/** Reads items and relations of one tenant, many at a time. */
export function graphReader(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
  const itemsFrom = (rest: string) => `configuration_items ${ofTenant} ${rest}`
  const relationsFrom = (rest: string) =>
    `ci_relations ${ofTenant} and ($3::text[] is null or type = any($3::text[])) ${rest}`
  const parameters = (...given: Parameter[]) => [workspaceId, environment, ...given]
  return {
    /** All; null where they are too many to be read at once. */
    allItems: (): Promise<Items | null> =>
      readColumnsUpTo(readable.items, sql, itemColumns, itemsFrom(''), parameters()),
    /** All of the types; null where they are too many to be read at once. */
    allRelations: (types: RelationType[] | undefined): Promise<Relations | null> =>
      readColumnsUpTo(readable.relations, sql, relationColumns, relationsFrom(''), parameters(types ?? null)),
    oldestItems: (limit: number): Promise<Items> =>
      readColumns(sql, itemColumns, itemsFrom('order by created_at, id limit $3'), parameters(limit)),
    itemsOf: (ids: string[]): Promise<Items> =>
      readColumns(sql, itemColumns, itemsFrom('and id in (select unnest($3::text[]))'), parameters(ids)),
    /** Those with both ends among the items. */
    relationsAmong: (ids: string[], types: RelationType[] | undefined, limit: number): Promise<Relations> => {
      const inside =
        'and source_id in (select unnest($4::text[])) and target_id in (select unnest($4::text[])) limit $5'
      return readColumns(sql, relationColumns, relationsFrom(inside), parameters(types ?? null, ids, limit))
    },
  }
}
