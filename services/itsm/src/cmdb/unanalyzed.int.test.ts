import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TenantScope } from '@opsplane/contracts'
import { seededRandom, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import * as itsm from '../service.js'
import type { StatementRunner } from './columns.js'
import { walkImpact } from './impact.js'
import { impactGraph } from './impact-graph.js'
import { type SampleGraph, sampleGraph } from './sample-graphs.js'
import { writeGraph } from './stored-graph.fixture.js'
import { topologyAround, wholeTopology } from './topology.js'

let service: TestService
const { workspaceId } = testPrincipal()
const tenant: TenantScope = { workspaceId: workspaceId ?? '', environment: 'production' }
const graph: SampleGraph = sampleGraph({ random: seededRandom(41), nodes: 2_500, relations: 8_000 })
const start = graph.nodes[0]?.id ?? ''

beforeAll(async () => {
  service = await startTestService({ name: 'itsm', ...itsm })
  // As right after an import: Postgres knows nothing yet of what is in the tables, and does not learn it meanwhile.
  for (const table of ['configuration_items', 'ci_relations'])
    await service.sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)
  await writeGraph(service.sql, tenant.workspaceId, graph)
})
afterAll(() => service?.stop())

interface Node {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** How many rows the parts of a plan have looked at in all. */
function lookedAt(node: Node): number {
  const rows =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return rows * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, plan) => sum + lookedAt(plan), 0)
}

/** The most rows a statement has looked at of all that something asks for. */
async function mostLookedAt(ask: (sql: StatementRunner) => Promise<unknown>): Promise<number> {
  const asked: Parameters<StatementRunner['unsafe']>[] = []
  const unsafe: StatementRunner['unsafe'] = (text, parameters, options) => {
    asked.push([text, parameters])
    return service.sql.unsafe(text, parameters, options)
  }
  await ask({ unsafe })
  let most = 0
  for (const [text, parameters] of asked) {
    const [row] = await service.sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
      `explain (analyze, format json) ${text}`,
      parameters,
    )
    if (row === undefined) throw new Error('there is no plan')
    most = Math.max(most, lookedAt(row['QUERY PLAN'][0].Plan))
  }
  return most
}

describe('before the tables are analyzed', () => {
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
  ])('%s is told by looking at each row a few times', async (_, ask) => {
    const most = await mostLookedAt(ask)
    expect(most).toBeLessThan(10 * (graph.nodes.length + graph.relations.length))
  })
})
