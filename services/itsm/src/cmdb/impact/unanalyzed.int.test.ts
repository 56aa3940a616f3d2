import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TenantScope } from '@opsplane/contracts'
import { seededRandom, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../../service.js'
import type { StatementRunner } from '../columns.js'
import { maxScannedRows } from '../item/scanned-rows.fixture.js'
import { walkImpact } from './impact.js'
import { impactGraph } from './impact-graph.js'
import { type SampleGraph, sampleGraph } from './sample-graphs.fixture.js'
import { writeGraph } from './stored-graph.fixture.js'
import { topologyAround, wholeTopology } from './topology.js'

let service: TestService
const { workspaceId } = testPrincipal()
const tenant: TenantScope = { workspaceId: workspaceId ?? '', environment: 'production' }
const graph: SampleGraph = sampleGraph({ random: seededRandom(41), nodes: 2_500, relations: 8_000 })
const start = graph.nodes[0]?.id ?? ''

beforeAll(async () => {
  service = await startTestService(itsm)
  // Simulates the state right after an import: Postgres has no statistics for the tables, and autovacuum collects none.
  for (const table of ['configuration_items', 'ci_relations'])
    await service.sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)
  await writeGraph(service.sql, tenant.workspaceId, graph)
})
afterAll(() => service?.stop())

describe('without table statistics', () => {
  const limits = { maxItems: 10_000, maxHops: 100 }
  const ids = graph.nodes.map(({ id }) => id)

  it.each<[string, (sql: StatementRunner) => Promise<unknown>]>([
    ['what breaks if one item fails', (sql) => walkImpact(impactGraph(sql, tenant), [start], limits)],
    ['what breaks if many fail', (sql) => walkImpact(impactGraph(sql, tenant), ids.slice(0, 100), limits)],
    ['what depends on many', (sql) => impactGraph(sql, tenant).dependents(ids.slice(0, 200))],
    ['what many depend on', (sql) => impactGraph(sql, tenant).dependencies(ids, ['depends_on', 'member_of'])],
    [
      'what lies around an item',
      (sql) => topologyAround(sql, { tenant, itemId: start, depth: 5, direction: 'both', limit: 3_000 }),
    ],
    [
      'more of what lies around an item',
      (sql) => topologyAround(sql, { tenant, itemId: start, depth: 5, direction: 'both', limit: 10_000 }),
    ],
    ['the oldest items', (sql) => wholeTopology(sql, { tenant, limit: 2_000 })],
  ])('scans each row only a few times to find %s', async (_, ask) => {
    const most = await maxScannedRows(service.sql, ask)
    expect(most).toBeLessThan(10 * (graph.nodes.length + graph.relations.length))
  })
})
