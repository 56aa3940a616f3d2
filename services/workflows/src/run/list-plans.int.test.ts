import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { idFactory, type RunFilters } from '@opsplane/contracts'
import { startTestService, type TestService } from '@opsplane/testing'
import { runService } from '../fixture/run-service.js'
import { buildListStatement } from './queries.js'

const rows = 50_000
const dayMs = 24 * 3_600_000
const tenant = { workspaceId: 'ws_1', environment: 'production' } as const
let service: TestService

/** A hundred days of runs in two workspaces, most of them completed runs of one workflow. */
beforeAll(async () => {
  service = await startTestService(runService().service)
  const { sql } = service
  const newest = Date.now()
  await sql`select add_run_month(day::date) from generate_series(now() - interval '130 days', now(), '1 month') day`
  const newId = (at: number) => idFactory(() => at)('run')
  const ids = Array.from({ length: rows }, (_, n) => newId(newest - ((rows - n) * 100 * dayMs) / rows))
  await sql`insert into runs (id, workspace_id, environment, workflow_id, workflow_name, workflow_version,
      trigger_type, status, queued_at, ended_at, seq, bytes)
    select id, 'ws_' || (n % 2 + 1), 'production', 'wf_' || case when n % 100 < 2 then 2 else 1 end, 'W', 1,
      case when n % 1000 < 2 then 'webhook' else 'event' end,
      case when n % 500 < 2 then 'failed' else 'completed' end, now(), now(), 1, 100
    from unnest(${ids}::text[]) with ordinality as t(id, n)`
  // Each event has started three runs.
  await sql`insert into run_triggers (workflow_id, key, run_id)
    select 'wf_' || n % 3, 'event/evt_' || n / 3, id
    from unnest(${ids}::text[]) with ordinality as t(id, n)`
  await sql`vacuum analyze runs, run_triggers`
})
afterAll(() => service?.stop())

interface Node {
  'Relation Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}
const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]

/** Number of runs read for a page of 50. */
async function looksAt(filters: RunFilters, before: string | null = null): Promise<number> {
  const { text, parameters } = buildListStatement(tenant, filters, before, 51)
  const { sql } = service
  const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
    `explain (analyze, format json) ${text}`,
    parameters,
    { prepare: false },
  )
  const scans = (row ? flat(row['QUERY PLAN'][0].Plan) : []).filter((node) => 'Relation Name' in node)
  return scans.reduce(
    (sum, node) =>
      sum +
      ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0),
    0,
  )
}

/** A page, as many rows of the other workspace if there are only two, and at most one additional run for each month. */
const most = 2 * 51 + 10

it.each<[string, RunFilters]>([
  ['no filter', {}],
  ['the usual status', { status: 'completed' }],
  ['a rare status', { status: 'failed' }],
  ['a status there is none of', { status: 'dead' }],
  ['a rare trigger', { triggerType: 'webhook' }],
  ['an event', { triggerId: 'evt_9000' }],
  ['an event and a rare status', { triggerId: 'evt_9000', status: 'failed' }],
  ['an event that started none', { triggerId: 'evt_none' }],
  ['the run that started them', { triggerId: 'run_none' }],
  ['a workflow', { workflowId: 'wf_1' }],
  ['a rare workflow', { workflowId: 'wf_2' }],
  ['a workflow and a rare status', { workflowId: 'wf_1', status: 'failed' }],
  ['a status and a time', { status: 'completed', to: new Date(Date.now() - 50 * dayMs).toISOString() }],
])('a page of runs with %s reads a bounded number of rows, even far down the list', async (_, filters) => {
  expect(await looksAt(filters)).toBeLessThanOrEqual(most)
  const [{ id }] = (await service.sql`select id from runs order by id offset ${rows / 2} limit 1`) as [
    { id: string },
  ]
  expect(await looksAt(filters, id)).toBeLessThanOrEqual(most)
})

it('a page of runs filtered by time reads no other months', async () => {
  const [from, to] = [60, 59].map((days) => new Date(Date.now() - days * dayMs).toISOString())
  expect(await looksAt({ from, to })).toBeLessThanOrEqual(most)
})
