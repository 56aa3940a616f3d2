import type { CiImpact, CiStatus, Redundancy, RedundancyByType, RelationType } from '@opsplane/contracts'

/** The fields of an item that the walk needs. */
export interface ImpactNode {
  id: string
  name: string
  class: string
  status: CiStatus
  criticality: CiImpact['affected'][number]['criticality']
  redundancy: RedundancyByType
}

/** A relation over which a failure of `dependency` reaches `dependent`. */
export interface ImpactRelation {
  relationId: string
  type: RelationType
  dependency: string
  dependent: ImpactNode
}

/** A dependency of an item, whether or not it is down in this walk. */
export interface Dependency {
  dependent: string
  type: RelationType
  id: string
  status: CiStatus
}

/** Source of the graph for a walk: one workspace and environment, many items per call. */
export interface ImpactGraph {
  /** Returns the items that directly depend on any of the given ones. */
  dependents(ids: string[]): Promise<ImpactRelation[]>
  /** Returns the dependencies of the given items over relations of these types. */
  dependencies(ids: string[], types: RelationType[]): Promise<Dependency[]>
}

export interface ImpactLimits {
  maxItems: number
  maxHops: number
}

interface Reached {
  node: ImpactNode
  hops: number
  from: string
  relationId: string
}

/** Planned and retired items are not in service: they neither fail nor count as redundancy. */
const inService = (status: CiStatus) => status !== 'planned' && status !== 'retired'

/**
 * Computes what fails when all `failing` items fail together. Walks outwards hop by hop from the items that failed in
 * the previous hop. An item fails if one of its dependencies does or, with redundancy for that relation type, if too
 * few of them are left. An item never recovers within a walk, so cycles terminate and the order does not matter.
 */
export async function walkImpact(
  graph: ImpactGraph,
  failing: string[],
  { maxItems, maxHops }: ImpactLimits,
): Promise<CiImpact> {
  const down = new Set(failing)
  const reachedById = new Map<string, Reached>()
  let frontier = failing
  let truncated = false
  for (let hops = 1; frontier.length > 0 && !truncated; hops++) {
    const hit = (await graph.dependents(frontier)).filter(
      ({ dependent }) => !down.has(dependent.id) && inService(dependent.status),
    )
    const broken = await findBroken(graph, hit, down)
    const room = maxItems - reachedById.size
    const ids = [...broken.keys()].sort()
    truncated = ids.length > room || (hops > maxHops && ids.length > 0)
    frontier = hops > maxHops ? [] : ids.slice(0, room)
    for (const id of frontier) {
      const { dependent, dependency, relationId } = broken.get(id) as ImpactRelation
      down.add(id)
      reachedById.set(id, { node: dependent, hops, from: dependency, relationId })
    }
  }
  return toCiImpact(failing, reachedById, truncated)
}

/** Returns the affected items that do not survive, each with the first responsible relation by id. */
async function findBroken(
  graph: ImpactGraph,
  hit: ImpactRelation[],
  down: ReadonlySet<string>,
): Promise<Map<string, ImpactRelation>> {
  const redundant = hit.filter(({ dependent, type }) => findRedundancy(dependent, type) !== undefined)
  const survivals = await findSurvivals(graph, redundant, down)
  const broken = new Map<string, ImpactRelation>()
  for (const dependence of hit) {
    const { dependent, type, relationId } = dependence
    const reported = broken.get(dependent.id)
    if (reported !== undefined && reported.relationId < relationId) continue
    if (survivals.size > 0 && survivals.has(`${dependent.id}/${type}`)) continue
    broken.set(dependent.id, dependence)
  }
  return broken
}

/** Returns `item/type` for each item that has enough dependencies of that type left. */
async function findSurvivals(
  graph: ImpactGraph,
  hit: ImpactRelation[],
  down: ReadonlySet<string>,
): Promise<Set<string>> {
  if (hit.length === 0) return new Set()
  const nodes = new Map(hit.map(({ dependent }) => [dependent.id, dependent]))
  const types = [...new Set(hit.map(({ type }) => type))]
  const counts = new Map<string, { up: number; total: number }>()
  for (const { dependent, type, id, status } of await graph.dependencies([...nodes.keys()], types)) {
    if (!inService(status)) continue
    const count = counts.get(`${dependent}/${type}`) ?? { up: 0, total: 0 }
    counts.set(`${dependent}/${type}`, {
      up: count.up + Number(status === 'operational' && !down.has(id)),
      total: count.total + 1,
    })
  }
  const survives = ({ dependent, type }: ImpactRelation) => {
    const redundancy = findRedundancy(dependent, type)
    const { up, total } = counts.get(`${dependent.id}/${type}`) ?? { up: 0, total: 0 }
    return redundancy !== undefined && up >= countRequiredUp(redundancy, total)
  }
  return new Set(hit.filter(survives).map(({ dependent, type }) => `${dependent.id}/${type}`))
}

function findRedundancy({ redundancy }: ImpactNode, type: RelationType): Redundancy | undefined {
  const byType: Partial<Record<RelationType, Redundancy | undefined>> = redundancy
  return byType[type]
}

/** Number of `total` dependencies that must be up. At least one, because nothing survives with no dependency up. */
export function countRequiredUp(redundancy: Redundancy, total: number): number {
  if ('minUp' in redundancy) return redundancy.minUp
  return Math.max(1, Math.ceil((redundancy.minUpPercent * total) / 100))
}

function toCiImpact(failing: string[], reachedById: Map<string, Reached>, truncated: boolean): CiImpact {
  const affected = Array.from(reachedById.values(), ({ node, hops }) => {
    const { id, name, class: className, status, criticality } = node
    return { id, name, class: className, status, criticality, hops, path: pathTo(id, reachedById) }
  })
  const services = affected
    .filter((item) => item.class === 'service')
    .map(({ path: _, ...service }) => service)
  return { failing, affected, services, truncated }
}

/** Returns a shortest path: each step leads to an item that failed one hop earlier. */
function pathTo(id: string, reachedById: Map<string, Reached>): { items: string[]; relations: string[] } {
  const items = [id]
  const relations: string[] = []
  for (let step = reachedById.get(id); step !== undefined; step = reachedById.get(step.from)) {
    items.push(step.from)
    relations.push(step.relationId)
  }
  return { items: items.reverse(), relations: relations.reverse() }
}
