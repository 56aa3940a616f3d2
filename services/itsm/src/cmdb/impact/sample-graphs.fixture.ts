import {
  ciStatuses,
  impactTypes,
  newId,
  type Redundancy,
  type RedundancyByType,
  type RelationType,
  relationTypes,
} from '@opsplane/contracts'
import type { ImpactGraph, ImpactNode, ImpactRelation } from './impact.js'

/** Random graphs for tests: with cycles, redundancy, items out of service, and relations of every type. */

export interface SampleRelation {
  id: string
  sourceId: string
  targetId: string
  type: RelationType
}

export interface SampleGraph {
  nodes: ImpactNode[]
  relations: SampleRelation[]
}

export interface SampleOptions {
  /** Returns numbers in [0, 1), the same sequence on every run. */
  random(): number
  nodes: number
  relations: number
  redundant?: boolean
}

/** Some types are frequent, so that items have several dependencies of one type. */
const drawnTypes: readonly RelationType[] = [
  ...relationTypes,
  ...Array<RelationType>(8).fill('depends_on'),
  ...Array<RelationType>(5).fill('member_of'),
]

export function sampleGraph({ random: next, redundant = true, ...size }: SampleOptions): SampleGraph {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T
  const redundancy = (): Redundancy =>
    next() < 0.5 ? { minUp: pick([1, 1, 2, 3]) } : { minUpPercent: pick([10, 25, 34, 50, 67, 100]) }
  const redundancies = (): RedundancyByType =>
    redundant && next() < 0.7
      ? Object.fromEntries(impactTypes.filter(() => next() < 0.8).map((type) => [type, redundancy()]))
      : {}
  const nodes = Array.from(
    { length: size.nodes },
    (_, at): ImpactNode => ({
      id: newId('ci'),
      name: `item-${at}`,
      class: pick(['service', 'server', 'database']),
      status: next() < 0.85 ? 'operational' : pick(ciStatuses),
      criticality: 'medium',
      redundancy: redundancies(),
    }),
  )
  const relations = new Map<string, SampleRelation>()
  for (let at = 0; at < size.relations; at++) {
    const relation = { sourceId: pick(nodes).id, targetId: pick(nodes).id, type: pick(drawnTypes) }
    if (relation.sourceId === relation.targetId) continue
    relations.set(JSON.stringify(relation), { id: newId('relation'), ...relation })
  }
  return { nodes, relations: [...relations.values()] }
}

/** Types whose source fails with its target. Written out independently of the table that the code uses. */
const sourceFalls: readonly RelationType[] = ['depends_on', 'runs_on', 'hosted_on', 'consumes_api']
const targetFalls: readonly RelationType[] = ['contains', 'member_of', 'provides']

/** Returns the relations with impact, as pairs of dependency and dependent. */
export function findImpactRelations({ nodes, relations }: SampleGraph): ImpactRelation[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return relations.flatMap(({ id: relationId, sourceId, targetId, type }) => {
    const dependent = byId.get(sourceFalls.includes(type) ? sourceId : targetId)
    const passes = sourceFalls.includes(type) || targetFalls.includes(type)
    if (!passes || dependent === undefined) return []
    return [{ relationId, type, dependency: dependent.id === sourceId ? targetId : sourceId, dependent }]
  })
}

export function toImpactGraph(graph: SampleGraph): ImpactGraph {
  const all = findImpactRelations(graph)
  const status = new Map(graph.nodes.map((node) => [node.id, node.status]))
  return {
    dependents: async (ids) => {
      const wanted = new Set(ids)
      return all.filter(({ dependency }) => wanted.has(dependency))
    },
    dependencies: async (ids, types) => {
      const wanted = new Set(ids)
      return all
        .filter(({ dependent, type }) => wanted.has(dependent.id) && types.includes(type))
        .map(({ dependent, type, dependency }) => ({
          dependent: dependent.id,
          type,
          id: dependency,
          status: status.get(dependency) ?? 'operational',
        }))
    },
  }
}

/** Computes the round in which each item fails, by checking every item in every round until no further one fails. */
export function bruteForce(graph: SampleGraph, failing: string[]): Map<string, number> {
  const all = findImpactRelations(graph)
  const statuses = new Map(graph.nodes.map(({ id, status }) => [id, status]))
  const statusOf = (id: string) => statuses.get(id)
  const inService = (id: string) => !['planned', 'retired'].includes(statusOf(id) ?? '')
  const hops = new Map(failing.map((id) => [id, 0]))
  for (let round = 1; ; round++) {
    const falling = graph.nodes.filter((node) => {
      if (hops.has(node.id) || !inService(node.id)) return false
      return impactTypes.some((type) => {
        const needs = all.filter((each) => each.dependent.id === node.id && each.type === type)
        if (!needs.some(({ dependency }) => hops.has(dependency))) return false
        const rule = new Map(Object.entries(node.redundancy)).get(type)
        if (rule === undefined) return true
        const counted = needs.filter(({ dependency }) => inService(dependency))
        const up = counted.filter(
          (each) => !hops.has(each.dependency) && statusOf(each.dependency) === 'operational',
        )
        const enough =
          'minUp' in rule ? up.length >= rule.minUp : up.length * 100 >= rule.minUpPercent * counted.length
        return !enough || up.length === 0
      })
    })
    if (falling.length === 0) break
    for (const { id } of falling) hops.set(id, round)
  }
  for (const id of failing) hops.delete(id)
  return hops
}
