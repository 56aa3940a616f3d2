import { describe, expect, it } from '@jest/globals'
import type { CiImpact } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { walkImpact } from './impact.js'
import {
  bruteForce,
  findImpactRelations,
  type SampleGraph,
  sampleGraph,
  toImpactGraph,
} from './sample-graphs.fixture.js'

const limits = { maxItems: 10_000, maxHops: 100 }
const hopsOf = ({ affected }: CiImpact) => new Map(affected.map(({ id, hops }) => [id, hops]))
const failingOf = ({ nodes }: SampleGraph, count: number) => nodes.slice(0, count).map(({ id }) => id)

function expectPathsToHold(graph: SampleGraph, impact: CiImpact): void {
  const dependences = new Map(findImpactRelations(graph).map((each) => [each.relationId, each]))
  const hops = hopsOf(impact)
  for (const { id, path, hops: length } of impact.affected) {
    expect(path.relations).toHaveLength(length)
    expect([impact.failing.includes(path.items[0] ?? ''), path.items.at(-1)]).toEqual([true, id])
    for (const [at, relationId] of path.relations.entries()) {
      const dependence = dependences.get(relationId)
      expect([dependence?.dependency, dependence?.dependent.id]).toEqual(path.items.slice(at, at + 2))
      expect(hops.get(path.items[at + 1] ?? '')).toBe(at + 1)
    }
  }
}

it('finds the same impact as a brute-force search on graphs with cycles and redundancy', async () => {
  const seen = { affected: 0, spared: 0 }
  for (let seed = 1; seed <= 400; seed++) {
    const graph = sampleGraph({
      random: seededRandom(seed),
      nodes: 3 + (seed % 22),
      relations: 4 + ((seed * 7) % 70),
    })
    const failing = failingOf(graph, 1 + (seed % 3))
    const expected = bruteForce(graph, failing)
    const impact = await walkImpact(toImpactGraph(graph), failing, limits)
    expect([seed, [...hopsOf(impact)].sort()]).toEqual([seed, [...expected].sort()])
    expect(impact.truncated).toBe(false)
    expectPathsToHold(graph, impact)
    const services = impact.affected.filter((item) => item.class === 'service').map(({ id }) => id)
    expect(impact.services.map(({ id }) => id)).toEqual(services)
    const all = { ...graph, nodes: graph.nodes.map((node) => ({ ...node, redundancy: {} })) }
    seen.affected += expected.size
    seen.spared += bruteForce(all, failing).size - expected.size
  }
  expect(seen.affected).toBeGreaterThan(500)
  expect(seen.spared).toBeGreaterThan(100)
})

it('counts hops as the shortest distance if there is no redundancy', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const sample = sampleGraph({ random: seededRandom(seed), nodes: 20, relations: 50, redundant: false })
    const graph = {
      ...sample,
      nodes: sample.nodes.map((node) => ({ ...node, status: 'operational' as const })),
    }
    const [start = ''] = failingOf(graph, 1)
    const distance = new Map(graph.nodes.map(({ id }) => [id, id === start ? 0 : Number.POSITIVE_INFINITY]))
    const at = (id: string) => distance.get(id) ?? Number.POSITIVE_INFINITY
    // Bellman–Ford: relax every relation as many times as there are items.
    for (const _ of graph.nodes)
      for (const { dependency, dependent } of findImpactRelations(graph))
        distance.set(dependent.id, Math.min(at(dependent.id), at(dependency) + 1))
    const reachable = [...distance].filter(([id, hops]) => id !== start && Number.isFinite(hops))
    const impact = await walkImpact(toImpactGraph(graph), [start], limits)
    expect([...hopsOf(impact)].sort()).toEqual(reachable.sort())
  }
})

describe('limits of an impact walk', () => {
  const graph = sampleGraph({ random: seededRandom(5), nodes: 40, relations: 160, redundant: false })
  const failing = failingOf(graph, 2)

  it('truncate the result, which is marked as truncated', async () => {
    const all = await walkImpact(toImpactGraph(graph), failing, limits)
    expect(all.affected.length).toBeGreaterThan(6)
    const few = await walkImpact(toImpactGraph(graph), failing, { ...limits, maxItems: 5 })
    expect([few.affected, few.truncated]).toEqual([all.affected.slice(0, 5), true])
    const near = await walkImpact(toImpactGraph(graph), failing, { ...limits, maxHops: 1 })
    expect([near.affected, near.truncated]).toEqual([all.affected.filter(({ hops }) => hops === 1), true])
  })

  it('allow exactly as many items and hops as they state', async () => {
    const all = await walkImpact(toImpactGraph(graph), failing, limits)
    const exact = {
      maxItems: all.affected.length,
      maxHops: Math.max(...all.affected.map(({ hops }) => hops)),
    }
    expect(await walkImpact(toImpactGraph(graph), failing, exact)).toEqual(all)
  })
})
