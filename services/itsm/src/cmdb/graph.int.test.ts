import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiImpact, CiTopology, newId, relationTypes } from '@opsplane/contracts'
import {
  type ApiClient,
  seededRandom,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import * as itsm from '../service.js'
import { bruteForce, type SampleGraph, sampleGraph } from './sample-graphs.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ name: 'itsm', ...itsm })
})
afterAll(() => service?.stop())

const createdAt = '2026-03-02T09:00:00.000Z'

/** Writes a graph as the event store would have, thousands of rows at once, into a workspace of its own. */
async function workspaceWith(graph: SampleGraph): Promise<{ api: ApiClient; workspaceId: string }> {
  const principal = testPrincipal()
  const workspaceId = principal.workspaceId ?? ''
  const rowOf = (state: { id: string }) => ({
    ...{ id: state.id, workspace_id: workspaceId, environment: 'production', version: 1 },
    state: { ...state, createdAt, updatedAt: createdAt },
  })
  for (const [table, states] of [
    ['configuration_items', graph.nodes],
    ['ci_relations', graph.relations],
  ] as const) {
    const rows = JSON.stringify(states.map(rowOf))
    await service.sql.unsafe(
      `insert into ${table} (id, workspace_id, environment, version, state)
       select id, workspace_id, environment, version, state
         from json_to_recordset($1::text::json) as r(id text, workspace_id text, environment text, version int, state json)`,
      [rows],
    )
  }
  return { api: service.as(principal), workspaceId }
}

describe.each([1, 2, 3])('random graph %i in Postgres', (seed) => {
  const graph = sampleGraph({ random: seededRandom(seed), nodes: 120, relations: 340 })
  let api: ApiClient
  beforeAll(async () => {
    api = (await workspaceWith(graph)).api
  })

  it('breaks as by brute force', async () => {
    for (const itemIds of [0, 40, 80].map((at) => graph.nodes.slice(at, at + 3).map(({ id }) => id))) {
      const { affected } = (await api.post('/cmdb/impact', { itemIds })).data(CiImpact)
      const hops = affected.map(({ id, hops }) => [id, hops])
      expect(hops.sort()).toEqual([...bruteForce(graph, itemIds)].sort())
    }
  })

  it.each(['upstream', 'downstream', 'both'])('shows what is %s of an item', async (direction) => {
    const start = graph.nodes[0]?.id ?? ''
    const reply = (await api.get(`/cmdb/topology?around=${start}&depth=2&direction=${direction}`)).data(
      CiTopology,
    )
    const expected = walked(graph, start, direction, 2)
    expect(reply.nodes.map(({ id, depth }) => [id, depth]).sort()).toEqual([...expected].sort())
    const among = graph.relations.filter((each) => expected.has(each.sourceId) && expected.has(each.targetId))
    expect(reply.edges.map(({ id }) => id).sort()).toEqual(among.map(({ id }) => id).sort())
    expect(reply.depth).toBe(Math.max(...expected.values()))
  })
})

it.each(['upstream', 'both'])('shows the same where levels are wide (%s)', async (direction) => {
  const graph = sampleGraph({ random: seededRandom(7), nodes: 2_500, relations: 14_000 })
  const { api } = await workspaceWith(graph)
  const start = graph.nodes[0]?.id ?? ''
  const types = 'types=depends_on,member_of,connects_to'
  for (const query of ['', `&${types}`]) {
    const reply = (
      await api.get(`/cmdb/topology?around=${start}&depth=10&direction=${direction}&limit=10000${query}`)
    ).data(CiTopology)
    const relations = graph.relations.filter(({ type }) => query === '' || types.includes(type))
    const expected = walked({ ...graph, relations }, start, direction, 10)
    const widths = Array.from(
      { length: 9 },
      (_, at) => [...expected.values()].filter((depth) => depth === at).length,
    )
    expect(Math.max(...widths)).toBeGreaterThanOrEqual(500)
    expect(reply.nodes.map(({ id, depth }) => [id, depth]).sort()).toEqual([...expected].sort())
    const among = relations.filter((each) => expected.has(each.sourceId) && expected.has(each.targetId))
    expect(reply.edges.map(({ id }) => id).sort()).toEqual(among.map(({ id }) => id).sort())
  }
})

/** Depths by looking at every relation once for each level. */
function walked(graph: SampleGraph, start: string, direction: string, depth: number): Map<string, number> {
  const found = new Map([[start, 0]])
  const sourceFalls = ['depends_on', 'runs_on', 'hosted_on', 'consumes_api']
  const targetFalls = ['contains', 'member_of', 'provides']
  const toTarget = { upstream: sourceFalls, downstream: targetFalls, both: [...relationTypes] }
  const toSource = { upstream: targetFalls, downstream: sourceFalls, both: [...relationTypes] }
  const way = direction as keyof typeof toTarget
  for (let level = 1; level <= depth; level++) {
    const before = new Map(found)
    const reach = (from: string, to: string, types: string[], type: string) => {
      if (types.includes(type) && before.has(from) && !found.has(to)) found.set(to, level)
    }
    for (const { sourceId, targetId, type } of graph.relations) {
      reach(sourceId, targetId, toTarget[way], type)
      reach(targetId, sourceId, toSource[way], type)
    }
  }
  return found
}

it('holds every hop against the tenant, even over a relation that should not be there', async () => {
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

it('finds open incidents and text in names by their indexes', async () => {
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
  const open = "state->>'ciId' is not null and status in ('open', 'in_progress', 'on_hold')"
  const about = `${tenant} and (state->>'ciId') = 'ci_1' and ${open}`
  expect(await plan(`select count(*) from incidents where ${about}`)).toContain('incidents_ci_idx')
  expect(await plan(`select 1 from configuration_items where ${tenant} and name ilike '%4711%'`)).toMatch(
    /configuration_items_name_text_idx[\s\S]*name ~~\* '%4711%'/,
  )
})
