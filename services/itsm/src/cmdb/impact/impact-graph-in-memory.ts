import {
  impactTypes,
  RedundancyByType,
  type RelationType,
  relationImpact,
  type TenantScope,
} from '@opsplane/contracts'
import { type Columns, readColumnsUpTo, type StatementRunner } from '../columns.js'
import { indexRelations } from '../relation/relation-index.js'
import { buildGraph, graphReader, itemAt, type RelationColumns, readLimits } from './graph.js'
import type { Dependency, ImpactGraph, ImpactNode, ImpactRelation } from './impact.js'

export const impactItemColumns = {
  words: ['id', 'class', 'status', 'criticality'],
  texts: ['name', 'redundancy'],
} as const
type ImpactItems = Columns<'id' | 'class' | 'status' | 'criticality', 'name' | 'redundancy'>

/** Reads the whole graph of a tenant; `null` if it exceeds `readLimits`. */
export async function readImpactGraph(
  sql: StatementRunner,
  tenant: TenantScope,
): Promise<ImpactGraph | null> {
  const [items, relations] = await Promise.all([
    itemsWithRedundancy(sql, tenant),
    graphReader(sql, tenant).allRelations([...impactTypes]),
  ])
  return items && relations && buildImpactGraph(items, relations)
}

function itemsWithRedundancy(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
): Promise<ImpactItems | null> {
  return readColumnsUpTo(
    readLimits.items,
    sql,
    impactItemColumns,
    'configuration_items where workspace_id = $1 and environment = $2',
    [workspaceId, environment],
  )
}

/** Builds the graph from relations with impact. Other relation types must not be passed. */
export function buildImpactGraph(columns: ImpactItems, relationColumns: RelationColumns): ImpactGraph {
  const { redundancy } = columns
  const graph = buildGraph(columns, relationColumns)
  const { items, relations } = graph
  const [dependencies, dependents] = [relations.source.slice(), relations.target.slice()]
  for (let at = 0; at < relations.size; at++) {
    if (relationImpact[relations.type[at] as RelationType] === 'to_target') continue
    dependencies[at] = relations.target[at] as number
    dependents[at] = relations.source[at] as number
  }
  const nodes: ImpactNode[] = []
  const nodeOf = (number: number) =>
    (nodes[number] ??= {
      ...itemAt(items, number),
      redundancy: parseRedundancy(redundancy[number] as string),
    })
  const isItem = (number: number) => number < items.size
  const from = indexRelations(dependencies, graph.size())
  const to = indexRelations(dependents, graph.size())

  return {
    async dependents(ids) {
      const found: ImpactRelation[] = []
      for (const id of ids) {
        for (const at of from(graph.numberOf(id))) {
          const dependent = dependents[at] as number
          if (!isItem(dependent)) continue
          const [relationId, type] = [relations.id[at] as string, relations.type[at] as RelationType]
          found.push({ relationId, type, dependency: id, dependent: nodeOf(dependent) })
        }
      }
      return found
    },
    async dependencies(ids, types) {
      const [found, wanted] = [[] as Dependency[], new Set<string>(types)]
      for (const dependent of ids) {
        for (const at of to(graph.numberOf(dependent))) {
          const type = relations.type[at] as RelationType
          const dependency = dependencies[at] as number
          if (!wanted.has(type) || !isItem(dependency)) continue
          const { id, status } = nodeOf(dependency)
          found.push({ dependent, type, id, status })
        }
      }
      return found
    },
  }
}

const needsAll: RedundancyByType = {}
/** Parses the redundancy column of an item row. */
export const parseRedundancy = (text: string) =>
  text === '{}' ? needsAll : RedundancyByType.parse(JSON.parse(text))
