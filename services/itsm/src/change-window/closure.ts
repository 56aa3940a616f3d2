import { type Criticality, impactTypes, type TenantScope } from '@opsplane/contracts'
import type { Dependence, ImpactGraph } from '../cmdb/impact.js'
import { walkImpact } from '../cmdb/impact.js'
import { impactGraph, type StatementRunner } from '../cmdb/impact-graph.js'

const limits = { maxItems: 2_000, maxHops: 5 }

/**
 * What depends on these items, and what they depend on, over relations with impact: each with the item it was reached
 * from. Work is no failure: redundancy does not keep it apart (two halves of a pair taken down at once are what is
 * looked for), and neither does whether an item is in service. So it is the same from either end.
 */
export async function closureOf(
  sql: StatementRunner,
  tenant: TenantScope,
  ciIds: readonly string[],
): Promise<Map<string, string>> {
  if (ciIds.length === 0) return new Map()
  const graph = impactGraph(sql, tenant)
  const related = new Map<string, string>()
  for (const direction of [outwards(graph), inwards(graph)]) {
    const { affected } = await walkImpact(direction, [...ciIds], limits)
    for (const { id, path } of affected) related.set(id, related.get(id) ?? path.items[0] ?? id)
  }
  return related
}

/** Towards what depends on an item. */
const outwards = (graph: ImpactGraph): ImpactGraph => ({
  ...graph,
  dependents: async (ids) =>
    (await graph.dependents(ids)).map((found) => ({
      ...found,
      dependent: { ...found.dependent, status: 'operational', redundancy: {} },
    })),
})

/** Towards what an item depends on: the walk is told of it as if it were the dependent. */
const inwards = (graph: ImpactGraph): ImpactGraph => ({
  ...graph,
  dependents: async (ids) =>
    (await graph.dependencies(ids, [...impactTypes])).map(
      ({ dependent, type, id }): Dependence => ({
        relationId: `${dependent}/${type}/${id}`,
        type,
        dependency: dependent,
        dependent: { id, name: '', class: '', status: 'operational', criticality, redundancy: {} },
      }),
    ),
})
const criticality: Criticality = 'low'
