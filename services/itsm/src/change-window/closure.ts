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
  graph: ImpactGraph = impactGraph(sql, tenant),
): Promise<Map<string, string>> {
  if (ciIds.length === 0) return new Map()
  const related = new Map<string, string>()
  for (const direction of [outwards(graph), inwards(graph)]) {
    const { affected } = await walkImpact(direction, [...ciIds], limits)
    for (const { id, path } of affected) related.set(id, related.get(id) ?? path.items[0] ?? id)
  }
  return related
}

/** The graph as it was when each item was first asked about: for many walks of one time. */
export function rememberedGraph(sql: StatementRunner, tenant: TenantScope): ImpactGraph {
  const graph = impactGraph(sql, tenant)
  const dependents = askedOnce(graph.dependents, ({ dependency }) => dependency)
  const all = (ids: string[]) => graph.dependencies(ids, [...impactTypes])
  const dependencies = askedOnce(all, ({ dependent }) => dependent)
  return {
    dependents,
    dependencies: async (ids, types) => (await dependencies(ids)).filter(({ type }) => types.includes(type)),
  }
}

function askedOnce<Found>(ask: (ids: string[]) => Promise<Found[]>, askedOf: (found: Found) => string) {
  const known = new Map<string, Found[]>()
  return async (ids: string[]): Promise<Found[]> => {
    const wanted = [...new Set(ids)]
    const unknown = wanted.filter((id) => !known.has(id))
    const answers = unknown.length > 0 ? await ask(unknown) : []
    for (const id of unknown) known.set(id, [])
    for (const found of answers) known.get(askedOf(found))?.push(found)
    return wanted.flatMap((id) => known.get(id) ?? [])
  }
}

/** A relation with impact, by what it means. */
export interface Link {
  dependent: string
  dependency: string
}

/** A closure that has the link in it begins at one end or up to so many hops from it. */
const reach = { maxItems: 10_000, maxHops: limits.maxHops - 1 }

/**
 * The items whose closure one of these links can be part of, whether they are there or not any more: the dependency and
 * what it depends on, the dependent and what depends on it. Each with the end it was reached from; null for too many.
 */
export async function reachOf(
  sql: StatementRunner,
  tenant: TenantScope,
  links: readonly Link[],
): Promise<Map<string, string> | null> {
  const graph = impactGraph(sql, tenant)
  const reached = new Map<string, string>()
  for (const [direction, ends] of [
    [outwards(graph), new Set(links.map(({ dependent }) => dependent))],
    [inwards(graph), new Set(links.map(({ dependency }) => dependency))],
  ] as const) {
    for (const end of ends) reached.set(end, end)
    const { affected } = await walkImpact(direction, [...ends], reach)
    if (affected.length >= reach.maxItems) return null
    for (const { id, path } of affected) reached.set(id, reached.get(id) ?? path.items[0] ?? id)
  }
  return reached
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
