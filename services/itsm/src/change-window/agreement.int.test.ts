import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, ChangeConflictKind, type ChangeState, newId, type TenantScope } from '@opsplane/contracts'
import { seededRandom, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { findImpactRelations, type SampleGraph, sampleGraph } from '../cmdb/impact/sample-graphs.fixture.js'
import { itsm } from '../service.js'
import { findConflictsOfMany } from './bulk-conflicts.js'
import { findConflicts } from './conflict-context.js'
import { sampleWindow, toIsoSpan } from './conflicts.fixture.js'
import { linksInDatabase, readTenantLinks, sharedLinks } from './impact-links.js'
import type { ImpactLinks, LinkDirection } from './links-in-memory.js'

let service: TestService
let template: Change
beforeAll(async () => {
  service = await startTestService(itsm)
  template = (await service.as(testPrincipal()).post('/itsm/changes', { title: 'New disks' })).data(Change)
})
afterAll(() => service?.stop())

/** Writes rows as the event store would. */
async function write(table: string, { workspaceId, environment }: TenantScope, states: object[]) {
  await service.sql.unsafe(
    `insert into ${table} (id, workspace_id, environment, version, state)
     select state->>'id', $1, $2, 1, state from json_array_elements($3::text::json) state`,
    [workspaceId, environment, JSON.stringify(states)],
  )
}

async function written(graph: SampleGraph): Promise<TenantScope> {
  const tenant: TenantScope = { workspaceId: `ws_${newId('ci')}`, environment: 'production' }
  const { createdAt, updatedAt } = template
  const items = graph.nodes.map((node) => ({ ...node, createdAt, updatedAt }))
  await write('configuration_items', tenant, items)
  const relations = graph.relations.map((each) => ({ ...each, createdAt }))
  await write('ci_relations', tenant, relations)
  return tenant
}

/** Computes for each item, relation by relation, its distance from the starts and which of them are equally near. */
function distances(graph: SampleGraph, direction: LinkDirection, starts: string[]) {
  const steps = findImpactRelations(graph).map(({ dependency, dependent: { id: dependent } }) =>
    direction === 'dependents' ? { from: dependency, to: dependent } : { from: dependent, to: dependency },
  )
  const found = new Map(starts.map((id) => [id, { hops: 0, origins: [id] }]))
  for (let hops = 1; hops <= graph.nodes.length; hops++) {
    const reached = new Map<string, Set<string>>()
    for (const { from, to } of steps) {
      const before = found.get(from)
      if (before?.hops !== hops - 1 || found.has(to)) continue
      reached.set(to, new Set([...(reached.get(to) ?? []), ...before.origins]))
    }
    for (const [id, origins] of reached) found.set(id, { hops, origins: [...origins].sort() })
  }
  for (const start of starts) found.delete(start)
  return found
}

it('the in-memory graph walk matches the level-by-level walk in Postgres and the search of single items', async () => {
  let cut = 0
  for (let seed = 1; seed <= 25; seed++) {
    const random = seededRandom(seed)
    const graph = sampleGraph({ random, nodes: 4 + (seed % 30), relations: 6 + ((seed * 11) % 80) })
    const tenant = await written(graph)
    const starts = graph.nodes.filter(() => random() < 0.15).map(({ id }) => id)
    starts.push(...starts.slice(0, 1), newId('ci'))
    const inMemory = await readTenantLinks(service.sql, tenant, 1_000)
    const ways: ImpactLinks[] = [linksInDatabase(service.sql, tenant), ...(inMemory ? [inMemory] : [])]
    expect(ways).toHaveLength(2)
    for (const direction of ['dependents', 'dependencies'] as const)
      for (const limits of [
        { maxItems: 100, maxHops: 100 },
        { maxItems: 100, maxHops: 2 },
        { maxItems: 4, maxHops: 5 },
      ]) {
        const all = [...distances(graph, direction, starts)]
          .filter(([, { hops }]) => hops <= limits.maxHops)
          .sort(([left, a], [right, b]) => a.hops - b.hops || (left < right ? -1 : 1))
        cut += Number(all.length > limits.maxItems)
        const expected = all.slice(0, limits.maxItems).map(([id, { origins }]) => [id, origins[0]])
        for (const links of ways) expect([...(await links.walk(direction, starts, limits))]).toEqual(expected)
      }
  }
  expect(cut).toBeGreaterThan(10)
})

it('finds the same conflicts for many changes together as for each alone, in either reading strategy', async () => {
  const kinds = new Map<string, number>()
  for (let seed = 1; seed <= 8; seed++) {
    const random = seededRandom(seed)
    const graph = sampleGraph({ random, nodes: 60, relations: 45 })
    const tenant = await written(graph)
    const ids = graph.nodes.map(({ id }) => id)
    const some = (most: number) => ids.filter(() => random() < (most * random()) / ids.length)
    const hour = (at: number) => Date.parse('2026-06-03T00:00:00Z') + at * 3_600_000
    const changes = Array.from({ length: 30 }, (_, at): ChangeState => {
      const from = Math.floor(random() * 40)
      const times = toIsoSpan(hour(from), hour(from + 1 + Math.floor(random() * 6)))
      return {
        ...template,
        ...{ id: newId('change'), number: `CHG-${seed * 1_000 + at}`, ciIds: some(4) },
        status: random() < 0.8 ? 'scheduled' : random() < 0.5 ? 'implementing' : 'draft',
        assigneeId: random() < 0.3 ? 'usr_1' : random() < 0.5 ? 'usr_2' : null,
        ...(random() < 0.9 && { plannedStart: times.from, plannedEnd: times.to }),
      }
    })
    await write('changes', tenant, changes)
    const windows = Array.from({ length: 8 }, (_, at) => {
      const from = Math.floor(random() * 40)
      const ciIds = random() < 0.5 ? some(20) : []
      return sampleWindow({
        id: newId('changeWindow'),
        kind: random() < 0.4 ? 'blackout' : 'maintenance',
        status: random() < 0.8 ? 'active' : 'inactive',
        name: `Window ${at}`,
        ciIds: ciIds.length > 0 ? ciIds : null,
        classes: ciIds.length === 0 || random() < 0.3 ? ['database'] : null,
        span: toIsoSpan(hour(from), hour(from + 4)),
      })
    })
    await write('change_windows', tenant, windows)
    const alone = new Map<string, unknown>()
    for (const each of changes) {
      const conflicts = await findConflicts(service.sql, tenant, each)
      alone.set(each.id, conflicts)
      for (const { kind } of conflicts) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    for (const maxRelations of [10_000, 3]) {
      const links = sharedLinks(service.sql, tenant, { maxRelations, wide: 10 })
      expect(await findConflictsOfMany(service.sql, tenant, changes, links, maxRelations)).toEqual(alone)
      expect(links.inMemory()).toBe(maxRelations > 3)
    }
  }
  // Each kind of conflict occurs, and often.
  for (const kind of ChangeConflictKind.options) expect(kinds.get(kind) ?? 0).toBeGreaterThan(10)
})
