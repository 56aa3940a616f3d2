import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { listPage } from '@opsplane/eventstore'
import { type Drizzle, openClient } from '@opsplane/postgres'
import { cursorCodec } from '@opsplane/runtime'
import { startTestService, type TestService } from '@opsplane/testing'
import { drizzle } from 'drizzle-orm/postgres-js'
import { slaTimers as table } from '../schema/sla.js'
import { itsm } from '../service.js'
import type { TimerFilters } from './list-filters.js'
import { timerSelection, timerSorts } from './queries.js'

const count = 20_000
/** Statements sent to the database while lists are read. */
const asked: { text: string; params: unknown[] }[] = []
let service: TestService
let client: ReturnType<typeof openClient>
let db: Drizzle

beforeAll(async () => {
  service = await startTestService(itsm)
  client = openClient(service.adminUrl, { schema: 'itsm', max: 1 })
  db = drizzle(client, { logger: { logQuery: (text, params) => asked.push({ text, params }) } })
  // As in production, states are not evenly distributed: open
  // clocks are new. Another tenant has the same number of clocks.
  await service.sql`
    insert into sla_timers (id, workspace_id, environment, version, state)
    select 'tmr_' || w || n, 'ws_' || w, 'production', 1, json_build_object('id', 'tmr_' || w || n,
      'entityId', 'inc_' || w || n, 'entityNumber', 'INC-' || n, 'policyId', 'slp_1', 'policyName', 'Gold', 'metric', 'resolution',
      'state', case when n < ${count / 2}::int then 'completed' when n % 2 = 0 then 'paused' else 'running' end,
      'createdAt', at, 'dueAt', at)
    from generate_series(1, ${count}::int) n, unnest(array['plans', 'other']) w, lateral (
      select to_char(timestamp '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at) times`
  await service.sql`vacuum analyze sla_timers`
})
afterAll(async () => {
  await client?.end()
  await service?.stop()
})

type Sort = keyof typeof timerSorts
type Direction = 'asc' | 'desc'
/** A page has 50 rows; one more row shows whether there is another page. */
const aPage = 51
/** A search first reads the nearest rows, which also shows how many there are. */
const nearest = 4_000

const cases: [string, TimerFilters, [Sort, Direction], number][] = [
  ['sla_timers_state_created_idx', { state: ['paused'] }, ['createdAt', 'asc'], aPage],
  ['sla_timers_state_created_idx', { state: ['completed'] }, ['createdAt', 'desc'], aPage],
  ['sla_timers_state_created_idx', { state: ['paused', 'running'] }, ['createdAt', 'asc'], 3 * aPage],
  ['sla_timers_state_created_idx', { state: ['canceled', 'completed'] }, ['createdAt', 'desc'], 3 * aPage],
  ['sla_timers_state_idx', { state: ['running'] }, ['dueAt', 'asc'], aPage],
  ['sla_timers_state_idx', { state: ['completed', 'paused'] }, ['dueAt', 'desc'], 3 * aPage],
  ['sla_timers_search_idx', { q: 'INC-77' }, ['createdAt', 'desc'], nearest + aPage],
  ['sla_timers_search_idx', { q: 'gold INC-77' }, ['dueAt', 'desc'], nearest + aPage],
  ['sla_timers_search_idx', { q: 'INC-77', state: ['completed'] }, ['createdAt', 'desc'], nearest + aPage],
  ['sla_timers_created_idx', { q: 'gold' }, ['createdAt', 'desc'], nearest + 3 * aPage],
]

it.each(cases)(
  'lists SLA clocks through %s for the filters %j in order of %j',
  async (index, filters, [sort, direction], most) => {
    asked.length = 0
    const { items } = await listPage(db, {
      ...{ asOf: undefined, table, tenant: { workspaceId: 'ws_plans', environment: 'production' } },
      ...timerSelection(filters, undefined),
      sort: { column: timerSorts[sort], direction },
      ...{ limit: 50, binding: 'plans', cursors: cursorCodec('secret'), present: ({ state }) => state },
    })
    expect(items.length).toBeGreaterThan(0)
    const scans = await scansOf(asked)
    expect(scans.map((scan) => scan['Node Type'])).not.toContain('Seq Scan')
    expect(scans.flatMap((scan) => scan['Index Name'] ?? [])).toContain(index)
    expect(scans.reduce((sum, scan) => sum + rowsOf(scan), 0)).toBeLessThanOrEqual(most)
  },
)

interface Node {
  'Node Type': string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}
const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]

/** Runs the statements again, in one transaction as before, and returns the scans of the table and its indexes. */
function scansOf(statements: typeof asked): Promise<Node[]> {
  return client.begin(async (tx) => {
    const scans: Node[] = []
    for (const { text, params } of statements) {
      const values = params as string[]
      if (text.includes('set_config')) await tx.unsafe(text, values)
      if (!text.includes('"sla_timers"')) continue
      const [row] = await tx.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] | string }[]>(
        `explain (analyze, format json) ${text}`,
        values,
      )
      const plan = row?.['QUERY PLAN'] ?? []
      const [read] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: Node }]
      scans.push(
        ...flat(read.Plan).filter((node) =>
          /^(Seq|Index|Index Only|Bitmap \w+) Scan$/.test(node['Node Type']),
        ),
      )
    }
    return scans
  })
}

const rowsOf = (scan: Node) =>
  (scan['Actual Rows'] +
    (scan['Rows Removed by Filter'] ?? 0) +
    (scan['Rows Removed by Index Recheck'] ?? 0)) *
  scan['Actual Loops']
