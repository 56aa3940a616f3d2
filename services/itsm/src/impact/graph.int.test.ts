import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiImpact, CiTopology, canonicalJson, newId, relationTypes } from '@opsplane/contracts'
import {
  type ApiClient,
  everyNth,
  searchTimes,
  seededRandom,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import { walkImpact } from '../cmdb/impact/impact.js'
import {
  bruteForce,
  type SampleGraph,
  type SampleRelation,
  sampleGraph,
  toImpactGraph,
} from '../cmdb/impact/sample-graphs.fixture.js'
import { writeGraph } from '../cmdb/impact/stored-graph.fixture.js'
import { openIncidentsText } from '../schema/cmdb.js'
import { itsm } from '../service.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

/** Writes a graph into a separate workspace. */
async function workspaceWith(graph: SampleGraph): Promise<{ api: ApiClient; workspaceId: string }> {
  const principal = testPrincipal()
  const workspaceId = principal.workspaceId ?? ''
  await writeGraph(service.sql, workspaceId, graph)
  // Autovacuum would analyze tables with so many new rows within a minute.
  await service.sql`analyze configuration_items, ci_relations`
  return { api: service.as(principal), workspaceId }
}

const noSlas = { slasAtRisk: [], slasTruncated: false }

describe.each(everyNth(3, [1, 2, 3]))('random graph %i in Postgres', (seed) => {
  const graph = sampleGraph({ random: seededRandom(seed), nodes: 120, relations: 340 })
  let api: ApiClient
  beforeAll(async () => {
    api = (await workspaceWith(graph)).api
  })

  it('has the same impact as a brute-force search', async () => {
    for (const itemIds of [0, 40, 80].map((at) => graph.nodes.slice(at, at + 3).map(({ id }) => id))) {
      const { affected } = (await api.post('/cmdb/impact', { itemIds })).data(CiImpact)
      const hops = affected.map(({ id, hops }) => [id, hops])
      expect(hops.sort()).toEqual([...bruteForce(graph, itemIds)].sort())
    }
  })

  it.each(['upstream', 'downstream', 'both'] as const)(
    'has the expected neighbors of an item: %s',
    async (direction) => {
      const start = graph.nodes[0]?.id ?? ''
      await expectShown(api, graph, { start, direction, depth: 2, limit: 1_000, types: '' })
    },
  )
})

describe('a graph with wide levels', () => {
  const graphs = [21, 22].map((seed) =>
    sampleGraph({ random: seededRandom(seed), nodes: 6_000, relations: 21_000 }),
  ) as [SampleGraph, SampleGraph]
  let [mine, theirs]: ApiClient[] = []
  beforeAll(async () => {
    // The items of both tenants have the same names.
    mine = (await workspaceWith(graphs[0])).api
    theirs = (await workspaceWith(graphs[1])).api
  })

  const walks = [
    [0, 'upstream', 10, 10_000, ''],
    [1, 'both', 10, 2_000, ''],
    [1, 'downstream', 5, 10_000, 'depends_on,contains'],
    [1, 'both', 4, 10_000, ''],
    [0, 'both', 10, 3_500, 'depends_on,member_of,connects_to'],
    [0, 'both', 10, 2_000, ''],
  ] as const
  it.each(everyNth(2, walks))(
    'matches a naive walk for tenant %i (for both in the long run): %s, %i levels, %i nodes, types %s',
    async (tenant, direction, depth, limit, types) => {
      for (const each of searchTimes > 1 ? ([0, 1] as const) : [tenant]) {
        const graph = graphs[each]
        const around = { start: graph.nodes[0]?.id ?? '', direction, depth, limit, types }
        await expectShown([mine, theirs][each], graph, around)
      }
    },
  )

  it('is shown with all items of a workspace, or with its oldest ones', async () => {
    for (const limit of [10_000, 4_000]) {
      const reply = (await mine?.get(`/cmdb/topology?limit=${limit}`))?.data(CiTopology)
      const ids = graphs[0].nodes.map(({ id }) => id).sort()
      const shown = new Set(ids.slice(0, limit))
      expect(reply?.nodes.map(({ id }) => id).join()).toBe([...shown].join())
      expect(reply?.nodes.every(({ depth }) => depth === null)).toBe(true)
      const named = new Map(graphs[0].nodes.map(({ id, name }) => [id, name]))
      expect(reply?.nodes.every(({ id, name }) => named.get(id) === name)).toBe(true)
      expect(idsOf(reply?.edges)).toBe(idsOf(inside(graphs[0].relations, shown)))
      expect([reply?.truncated, reply?.depth]).toEqual([limit < ids.length, null])
    }
  })

  it('has the same impact as the same walk in memory', async () => {
    for (const [api, graph] of [
      [mine, graphs[0]],
      [theirs, graphs[1]],
    ] as const) {
      const itemIds = graph.nodes.slice(0, 100).map(({ id }) => id)
      const expected = await walkImpact(toImpactGraph(graph), itemIds, { maxItems: 10_000, maxHops: 100 })
      const second = expected.affected.filter(({ hops }) => hops === 2).map(({ id }) => id)
      expect((await toImpactGraph(graph).dependents(second)).length).toBeGreaterThan(1_000)
      const impact = (await api?.post('/cmdb/impact', { itemIds }))?.data(CiImpact)
      expect(canonicalJson(impact)).toBe(canonicalJson({ ...expected, ...noSlas }))
    }
  })
})

it('walks level by level through a graph that is too large to be read in one piece', async () => {
  const graph = sampleGraph({ random: seededRandom(31), nodes: 20_100, relations: 53_000 })
  const { api } = await workspaceWith(graph)
  const start = graph.nodes[0]?.id ?? ''
  const around = { start, direction: 'both', depth: 8, limit: 3_500 } as const
  // First there are too many relations; then few enough relations, but too many items.
  await expectShown(api, graph, { ...around, types: '' })
  await expectShown(api, graph, { ...around, types: 'depends_on,member_of' })
  const itemIds = graph.nodes.slice(0, 40).map(({ id }) => id)
  const expected = await walkImpact(toImpactGraph(graph), itemIds, { maxItems: 10_000, maxHops: 100 })
  const impact = (await api.post('/cmdb/impact', { itemIds })).data(CiImpact)
  expect(canonicalJson(impact)).toBe(canonicalJson({ ...expected, ...noSlas }))
})

interface Around {
  start: string
  direction: 'upstream' | 'downstream' | 'both'
  depth: number
  limit: number
  /** All types by default. */
  types: string
}

async function expectShown(api: ApiClient | undefined, graph: SampleGraph, around: Around): Promise<void> {
  const { start, direction, depth, limit, types } = around
  const query = `around=${start}&depth=${depth}&direction=${direction}&limit=${limit}${types && `&types=${types}`}`
  const reply = (await api?.get(`/cmdb/topology?${query}`))?.data(CiTopology)
  const relations = graph.relations.filter(({ type }) => types === '' || types.split(',').includes(type))
  const found = walked({ ...graph, relations }, start, direction, depth, limit)
  const depths = reply?.nodes.map(({ id, depth }) => `${id} ${depth}`) ?? []
  expect(depths.sort().join()).toBe(
    Array.from(found.depths, ([id, depth]) => `${id} ${depth}`)
      .sort()
      .join(),
  )
  expect(idsOf(reply?.edges)).toBe(idsOf(inside(relations, new Set(found.depths.keys()))))
  const ends = new Map(relations.map((each) => [each.id, [each.sourceId, each.targetId, each.type]]))
  for (const { id, sourceId, targetId, type } of reply?.edges ?? []) {
    if (ends.get(id)?.join() !== [sourceId, targetId, type].join())
      expect([sourceId, targetId, type]).toEqual(ends.get(id))
  }
  expect([reply?.truncated, reply?.depth]).toEqual([found.truncated, Math.max(...found.depths.values())])
}

/** Joined to one text, because comparing lists of thousands of ids is slow. */
const idsOf = (each: { id: string }[] = []) =>
  each
    .map(({ id }) => id)
    .sort()
    .join()
const inside = (relations: SampleRelation[], shown: Set<string>) =>
  relations.filter(({ sourceId, targetId }) => shown.has(sourceId) && shown.has(targetId))

/** Computes depths by checking every relation once per level. The last level is cut, by id, at the limit. */
function walked(
  graph: SampleGraph,
  start: string,
  direction: string,
  depth: number,
  limit: number,
): { depths: Map<string, number>; truncated: boolean } {
  const depths = new Map([[start, 0]])
  const sourceFalls = ['depends_on', 'runs_on', 'hosted_on', 'consumes_api']
  const targetFalls = ['contains', 'member_of', 'provides']
  const toTarget = { upstream: sourceFalls, downstream: targetFalls, both: [...relationTypes] }
  const toSource = { upstream: targetFalls, downstream: sourceFalls, both: [...relationTypes] }
  const way = direction as keyof typeof toTarget
  for (let level = 1; level <= depth; level++) {
    const found = new Set<string>()
    for (const { sourceId, targetId, type } of graph.relations) {
      if (toTarget[way].includes(type) && depths.has(sourceId) && !depths.has(targetId)) found.add(targetId)
      if (toSource[way].includes(type) && depths.has(targetId) && !depths.has(sourceId)) found.add(sourceId)
    }
    const room = limit - depths.size
    for (const id of [...found].sort().slice(0, room)) depths.set(id, level)
    if (found.size > room) return { depths, truncated: true }
  }
  return { depths, truncated: false }
}

it('checks the tenant at every hop, even across a relation that should not exist', async () => {
  const theirs = sampleGraph({ random: seededRandom(9), nodes: 5, relations: 0 })
  const mine = sampleGraph({ random: seededRandom(10), nodes: 2, relations: 0, redundant: false })
  await workspaceWith(theirs)
  const [start, inside] = mine.nodes.map((node) => node.id)
  const [foreign] = theirs.nodes.map((node) => node.id)
  const relation = (sourceId = '', targetId = '') => ({
    ...{ id: newId('relation'), sourceId, targetId, type: 'depends_on' as const },
  })
  const nodes = mine.nodes.map((node) => ({ ...node, status: 'operational' as const }))
  const relations = [relation(inside, start), relation(foreign, start), relation(start, foreign)]
  const { api } = await workspaceWith({ nodes, relations })
  const impact = (await api.get(`/cmdb/items/${start}/impact`)).data(CiImpact)
  expect(impact.affected.map(({ id }) => id)).toEqual([inside])
  const shown = (await api.get(`/cmdb/topology?around=${start}`)).data(CiTopology)
  expect(shown.nodes.map(({ id }) => id).sort()).toEqual([start, inside].sort())
  expect(shown.edges.map(({ id }) => id)).toEqual([relations[0]?.id])
})

it('finds open incidents and parts of names through indexes', async () => {
  const plan = async (query: string) => {
    const rows = await service.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`
      return tx.unsafe(`explain ${query}`)
    })
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const { workspaceId } = await workspaceWith(
    sampleGraph({ random: seededRandom(4), nodes: 20_000, relations: 0 }),
  )
  await service.sql`analyze configuration_items`
  const tenant = `workspace_id = '${workspaceId}' and environment = 'production'`
  const about = `${tenant} and ci_id = 'ci_1' and ${openIncidentsText}`
  expect(await plan(`select count(*) from incidents where ${about}`)).toContain('incidents_open_item_idx')
  expect(await plan(`select 1 from configuration_items where ${tenant} and name ilike '%4711%'`)).toMatch(
    /configuration_items_name_text_idx[\s\S]*name ~~\* '%4711%'/,
  )
})
