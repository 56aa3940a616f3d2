import type { CiImpact, CiStatus, Redundancy, RedundancyByType, RelationType } from '@opsplane/contracts'

/** An item as the walk needs it. */
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

/** One dependency of an item, whether it is down in this walk or not. */
export interface Dependency {
  dependent: string
  type: RelationType
  id: string
  status: CiStatus
}

/** Where the walk gets the graph from: of one workspace and environment, many items at a time. */
export interface ImpactGraph {
  /** What depends directly on any of these. */
  dependents(ids: string[]): Promise<ImpactRelation[]>
  /** What any of these depends on, over relations of these types. */
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

/** Planned and retired items are not in service: they neither break nor count. */
const inService = (status: CiStatus) => status !== 'planned' && status !== 'retired'

/**
 * What breaks when `failing` fail at once. Goes outwards hop by hop from what went down in the hop before. An item
 * goes down when one of its dependencies does, or, with redundancy for that type of relation, when too few of them
 * are left; as an item never comes up again within a walk, cycles end by themselves and the order changes nothing.
 */
export async function walkImpact(
  graph: ImpactGraph,
  failing: string[],
  { maxItems, maxHops }: ImpactLimits,
): Promise<CiImpact> {
  const down = new Set(failing)
  const reached = new Map<string, Reached>()
  let frontier = failing
  let truncated = false
  for (let hops = 1; frontier.length > 0 && !truncated; hops++) {
    const hit = (await graph.dependents(frontier)).filter(
      ({ dependent }) => !down.has(dependent.id) && inService(dependent.status),
    )
    const broken = await findBroken(graph, hit, down)
    const room = maxItems - reached.size
    const ids = [...broken.keys()].sort()
    truncated = ids.length > room || (hops > maxHops && ids.length > 0)
    frontier = hops > maxHops ? [] : ids.slice(0, room)
    for (const id of frontier) {
      const { dependent, dependency, relationId } = broken.get(id) as ImpactRelation
      down.add(id)
      reached.set(id, { node: dependent, hops, from: dependency, relationId })
    }
  }
  return toCiImpact(failing, reached, truncated)
}

/** Of the items that were hit, those that do not survive it, each with the first relation by id that it is named with. */
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

/** Item and type, for each item that has enough dependencies of the type left. */
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

/** How many of `total` dependencies must be up. At least one: nothing survives on nothing. */
export function countRequiredUp(redundancy: Redundancy, total: number): number {
  if ('minUp' in redundancy) return redundancy.minUp
  return Math.max(1, Math.ceil((redundancy.minUpPercent * total) / 100))
}

function toCiImpact(failing: string[], reached: Map<string, Reached>, truncated: boolean): CiImpact {
  const affected = Array.from(reached.values(), ({ node, hops }) => {
    const { id, name, class: className, status, criticality } = node
    return { id, name, class: className, status, criticality, hops, path: pathTo(id, reached) }
  })
  const services = affected
    .filter((item) => item.class === 'service')
    .map(({ path: _, ...service }) => service)
  return { failing, affected, services, truncated }
}

/** Each step leads to an item that went down one hop earlier, so the path is as short as its hops. */
function pathTo(id: string, reached: Map<string, Reached>): { items: string[]; relations: string[] } {
  const items = [id]
  const relations: string[] = []
  for (let step = reached.get(id); step !== undefined; step = reached.get(step.from)) {
    items.push(step.from)
    relations.push(step.relationId)
  }
  return { items: items.reverse(), relations: relations.reverse() }
}
