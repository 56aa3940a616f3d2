import { impactTypes, RedundancyByType, relationImpact, type TenantScope } from '@opsplane/contracts'
import { type Columns, readColumnsUpTo, type StatementRunner } from './columns.js'
import { type Graph, graphOf, graphReader, type Items, readable } from './graph.js'
import type { Dependence, Dependency, ImpactGraph, ImpactNode } from './impact.js'

type ImpactItems = Items & Columns<'redundancy'>

/** All of a tenant, read at once; null where that is too much. */
export async function wholeImpactGraph(
  sql: StatementRunner,
  tenant: TenantScope,
): Promise<ImpactGraph | null> {
  const [items, relations] = await Promise.all([
    itemsWithRedundancy(sql, tenant),
    graphReader(sql, tenant).allRelations([...impactTypes]),
  ])
  return items && relations && impactGraphOf(items, graphOf(items, relations))
}

function itemsWithRedundancy(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
): Promise<ImpactItems | null> {
  return readColumnsUpTo(
    readable.items,
    sql,
    { words: ['id', 'class', 'status', 'criticality'], texts: ['name', 'redundancy'] },
    'configuration_items where workspace_id = $1 and environment = $2',
    [workspaceId, environment],
  )
}

function impactGraphOf(items: ImpactItems, graph: Graph): ImpactGraph {
  const { relations, sources, targets } = graph
  const [dependencies, dependents] = [sources.slice(), targets.slice()]
  for (let at = 0; at < relations.size; at++) {
    if (impactOf(relations.type[at]) === 'to_target') continue
    dependencies[at] = targets[at] as number
    dependents[at] = sources[at] as number
  }
  const nodes: ImpactNode[] = []
  const nodeOf = (number: number) => (nodes[number] ??= nodeAt(items, number))
  const isItem = (number: number) => number < items.size
  const from = relationsBy(dependencies, graph.size())
  const to = relationsBy(dependents, graph.size())

  return {
    async dependents(ids) {
      const found: Dependence[] = []
      for (const id of ids) {
        for (const at of from(graph.numberOf(id))) {
          const dependent = dependents[at] as number
          if (!isItem(dependent)) continue
          const { id: relationId, type } = relations
          found.push({
            relationId: relationId[at],
            type: type[at],
            dependency: id,
            dependent: nodeOf(dependent),
          } as Dependence)
        }
      }
      return found
    },
    async dependencies(ids, types) {
      const [found, wanted] = [[] as Dependency[], new Set<string>(types)]
      for (const dependent of ids) {
        for (const at of to(graph.numberOf(dependent))) {
          const type = relations.type[at] as Dependency['type']
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

const impactOf = (type: string | undefined) => relationImpact[type as keyof typeof relationImpact]

/** The relations of each item, found by what stands at its end. */
function relationsBy(ends: Int32Array, size: number): (number: number) => Int32Array {
  const begins = new Int32Array(size + 1)
  for (const end of ends) begins[end + 1] = (begins[end + 1] as number) + 1
  for (let number = 0; number < size; number++) {
    begins[number + 1] = (begins[number + 1] as number) + (begins[number] as number)
  }
  const [sorted, next] = [new Int32Array(ends.length), begins.slice()]
  for (let at = 0; at < ends.length; at++) {
    const end = ends[at] as number
    sorted[next[end] as number] = at
    next[end] = (next[end] as number) + 1
  }
  return (number) => sorted.subarray(begins[number], begins[number + 1])
}

function nodeAt(
  { id, name, class: className, status, criticality, redundancy }: ImpactItems,
  at: number,
): ImpactNode {
  return {
    ...{ id: id[at], name: name[at], class: className[at], status: status[at], criticality: criticality[at] },
    redundancy: redundancyFrom(redundancy[at] as string),
  } as ImpactNode
}

const none: RedundancyByType = {}
/** As the column of a row holds it. */
export const redundancyFrom = (text: string) =>
  text === '{}' ? none : RedundancyByType.parse(JSON.parse(text))
