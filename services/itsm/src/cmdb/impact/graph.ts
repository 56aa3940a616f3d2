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

/** Items by their place, each field by itself. */
export interface Items {
  size: number
  id: string[]
  name: string[]
  class: string[]
  status: CiStatus[]
  criticality: Criticality[]
}

/** Relations by their place; the items at their ends by number. */
export interface Relations {
  size: number
  id: string[]
  source: Int32Array
  target: Int32Array
  type: RelationType[]
}

/** Items and relations by number, so that thousands of steps look at numbers instead of ids. */
export interface Graph {
  items: Items
  relations: Relations
  /** Numbers begin with the items, in their order; then come ends that are none of them. */
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
      // As it was written.
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
    // As they were written.
    status: splitWords(columns.status) as CiStatus[],
    criticality: splitWords(columns.criticality) as Criticality[],
  }
}

/** No more of a tenant is read at once. */
export const readLimits = { items: 20_000, relations: 50_000 }

export interface SubgraphOptions {
  graph: Graph
  /** By the number of an item; undefined where it is not shown. */
  depthOf(number: number): number | null | undefined
  maxEdges: number
}

/** The items that are shown and the relations between them: an edge is shown only with both its items. */
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

/** Reads items and relations of one tenant, many at a time. */
export function graphReader(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
  const itemsFrom = (rest: string) => `configuration_items ${ofTenant} ${rest}`
  const ofTypes = '($3::text[] is null or type = any($3::text[]))'
  const parameters = (...given: Parameter[]) => [workspaceId, environment, ...given]
  return {
    /** All; null where they are too many to be read at once. */
    allItems: (): Promise<ItemColumns | null> =>
      readColumnsUpTo(readLimits.items, sql, itemColumns, itemsFrom(''), parameters()),
    /** All of the types; null where they are too many to be read at once. */
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
    /** Those with both ends among the items. */
    relationsAmong: (
      ids: string[],
      types: RelationType[] | undefined,
      limit: number,
    ): Promise<RelationColumns> => {
      const among = (end: string) => `${end} in (select unnest($4::text[]))`
      const found = rowsByIds(
        'ci_relations',
        `${among('source_id')} and ${among('target_id')} and ${ofTypes}`,
      )
      return readColumns(sql, relationColumns, `${found} limit $5`, parameters(types ?? null, ids, limit))
    },
  }
}
