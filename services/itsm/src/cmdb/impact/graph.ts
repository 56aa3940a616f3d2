import type { CiStatus, CiTopology, Criticality, RelationType, TenantScope } from '@opsplane/contracts'
import { rowsByIds } from '../by-ids.js'
import {
  type Columns,
  type Parameter,
  readColumns,
  readColumnsUpTo,
  type StatementRunner,
} from '../columns.js'
import { StringInterner, splitWords } from './string-interner.js'

type ItemColumns = Columns<'id' | 'class' | 'status' | 'criticality', 'name'>
export type RelationColumns = Columns<'id' | 'source_id' | 'target_id' | 'type'>

/** Items stored by column: each field is a list indexed by item. */
export interface Items {
  size: number
  id: string[]
  name: string[]
  class: string[]
  status: CiStatus[]
  criticality: Criticality[]
}

/** Relations stored by column. Their ends are item numbers. */
export interface Relations {
  size: number
  id: string[]
  source: Int32Array
  target: Int32Array
  type: RelationType[]
}

/**
 * A graph whose items and relations have numbers, so that traversals of thousands of steps compare numbers, not
 * ids.
 */
export interface Graph {
  items: Items
  relations: Relations
  /** Number of distinct ids. Items come first, in their order; then ends of relations that are not among the items. */
  size(): number
  idOf(number: number): string
  numberOf(id: string): number
}

export function buildGraph(items: ItemColumns | null, relations: RelationColumns): Graph {
  const words = new StringInterner()
  if (items) words.numbersOf(items.id)
  const [source, target] = [words.numbersOf(relations.source_id), words.numbersOf(relations.target_id)]
  const shown = toItems(items)
  return {
    items: shown,
    relations: {
      ...{ size: relations.size, source, target, id: splitWords(relations.id) },
      // Safe cast: the value was validated when it was written.
      type: splitWords(relations.type) as RelationType[],
    },
    size: () => words.size,
    idOf: (number) => shown.id[number] ?? words.wordOf(number),
    numberOf: (id) => words.numberOf(id),
  }
}

function toItems(columns: ItemColumns | null): Items {
  if (!columns) return { size: 0, id: [], name: [], class: [], status: [], criticality: [] }
  const { size, name } = columns
  return {
    ...{ size, name, id: splitWords(columns.id), class: splitWords(columns.class) },
    // Safe casts: the values were validated when they were written.
    status: splitWords(columns.status) as CiStatus[],
    criticality: splitWords(columns.criticality) as Criticality[],
  }
}

/** Maximum number of rows of a tenant that are read in one statement. */
export const readLimits = { items: 20_000, relations: 50_000 }

export interface SubgraphOptions {
  graph: Graph
  /** Returns the depth of the item with this number; `undefined` if the item is not part of the result. */
  depthOf(number: number): number | null | undefined
  maxEdges: number
}

/** Returns the selected items and the relations between them. An edge is returned only if both its items are. */
export function selectSubgraph({
  graph,
  depthOf,
  maxEdges,
}: SubgraphOptions): Pick<CiTopology, 'nodes' | 'edges' | 'truncated'> {
  const { items, relations } = graph
  const { source, target, type } = relations
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
    const from = source[at] as number
    const to = target[at] as number
    if (shown[from] !== 1 || shown[to] !== 1) continue
    if (edges.length === maxEdges) return { nodes, edges, truncated: true }
    edges.push({
      id: relations.id[at] as string,
      sourceId: items.id[from] as string,
      targetId: items.id[to] as string,
      type: type[at] as RelationType,
    })
  }
  return { nodes, edges, truncated: false }
}

function nodeAt(items: Items, at: number, depth: number | null): CiTopology['nodes'][number] {
  const { id, name, class: className, status, criticality } = itemAt(items, at)
  return { id, name, class: className, status, criticality, depth }
}

export function itemAt(items: Items, at: number) {
  return {
    id: items.id[at] as string,
    name: items.name[at] as string,
    class: items.class[at] as string,
    status: items.status[at] as CiStatus,
    criticality: items.criticality[at] as Criticality,
  }
}

const ofTenant = 'where workspace_id = $1 and environment = $2'
export const itemColumns = { words: ['id', 'class', 'status', 'criticality'], texts: ['name'] } as const
export const relationColumns = { words: ['id', 'source_id', 'target_id', 'type'] } as const

/** Reads items and relations of one tenant in bulk. */
export function graphReader(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
  const itemsFrom = (rest: string) => `configuration_items ${ofTenant} ${rest}`
  const ofTypes = '($3::text[] is null or type = any($3::text[]))'
  const parameters = (...values: Parameter[]) => [workspaceId, environment, ...values]
  return {
    /** All items; `null` if there are more than `readLimits.items`. */
    allItems: (): Promise<ItemColumns | null> =>
      readColumnsUpTo(readLimits.items, sql, itemColumns, itemsFrom(''), parameters()),
    /** All relations of the types; `null` if there are more than `readLimits.relations`. */
    allRelations: (types: RelationType[] | undefined): Promise<RelationColumns | null> =>
      readColumnsUpTo(
        readLimits.relations,
        sql,
        relationColumns,
        `ci_relations ${ofTenant} and ${ofTypes}`,
        parameters(types ?? null),
      ),
    oldestItems: (limit: number): Promise<ItemColumns> =>
      readColumns(sql, itemColumns, itemsFrom('order by created_at, id limit $3'), parameters(limit)),
    itemsOf: (ids: string[]): Promise<ItemColumns> =>
      readColumns(
        sql,
        itemColumns,
        rowsByIds('configuration_items', 'id in (select unnest($3::text[]))'),
        parameters(ids),
      ),
    /** Relations with both ends among the items. */
    relationsAmong: (
      ids: string[],
      types: RelationType[] | undefined,
      limit: number,
    ): Promise<RelationColumns> => {
      const isAmongIds = (end: string) => `${end} in (select unnest($4::text[]))`
      const found = rowsByIds(
        'ci_relations',
        `${isAmongIds('source_id')} and ${isAmongIds('target_id')} and ${ofTypes}`,
      )
      return readColumns(sql, relationColumns, `${found} limit $5`, parameters(types ?? null, ids, limit))
    },
  }
}
