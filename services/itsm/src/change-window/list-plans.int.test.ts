import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { listPage } from '@opsplane/eventstore'
import { cursorCodec } from '@opsplane/runtime'
import { startTestService, type TestService } from '@opsplane/testing'
import { changeWindows } from '../schema/change-window.js'
import { itsm } from '../service.js'
import type { WindowFilters } from './list-filters.js'
import { listPlans, plansTenant } from './list-plan.fixture.js'
import { windowSelection } from './queries.js'

let service: TestService
let plans: ReturnType<typeof listPlans>

beforeAll(async () => {
  service = await startTestService(itsm)
  plans = listPlans(service.adminUrl)
  // One row in 5,000 matches, so that no other plan is as cheap.
  await service.sql`
    insert into change_windows (id, workspace_id, environment, version, state)
    select 'win_' || n, ${plansTenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'win_' || n, 'name', 'Freeze ' || n, 'reason', case when rare then 'Audit' end,
      'kind', case when rare then 'maintenance' else 'blackout' end,
      'status', case when rare then 'inactive' else 'active' end, 'ciIds', null, 'classes', null,
      'startsAt', to_char(begins, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'endsAt', to_char(begins + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-01-01T00:00:00.000Z')
    from (select n, n % 5000 = 0 as rare, timestamp '2026-06-01' + n * interval '1 hour' as begins
      from generate_series(1, 20000) n) all_of_them`
  await service.sql`vacuum analyze change_windows`
})
afterAll(async () => {
  await plans?.close()
  await service?.stop()
})

type SortField = 'createdAt' | 'updatedAt' | 'name'
const listed = (filters: WindowFilters, sort: SortField = 'createdAt') =>
  plans.of((db) =>
    listPage(db, {
      asOf: undefined,
      table: changeWindows,
      tenant: plansTenant,
      ...windowSelection(filters, undefined),
      sort: { column: changeWindows[sort], direction: 'desc' },
      limit: 50,
      binding: 'plans',
      cursors: cursorCodec('x'.repeat(32)),
      present: ({ state }) => state.id,
    }),
  )
const rare = ['win_5000', 'win_20000', 'win_15000', 'win_10000']

it.each<[string, string, WindowFilters, string[]]>([
  ['a status', 'change_windows_status_idx', { status: ['inactive'] }, rare],
  ['a kind', 'change_windows_kind_idx', { kind: ['maintenance'] }, rare],
  ['a word', 'change_windows_search_idx', { q: 'audit' }, rare],
  ['a beginning', 'change_windows_search_idx', { q: 'freeze 1234' }, ['win_1234', 'win_12340']],
  [
    'a time',
    'change_windows_time_idx',
    { from: '2026-06-02T00:30:00.000Z', to: '2026-06-02T01:00:00.000Z' },
    ['win_24'],
  ],
])('finds change windows with %s through its index', async (_, index, filters, expected) => {
  const { found, indexes, nodes } = await listed(filters)
  expect(found).toEqual(expect.arrayContaining(expected))
  expect(indexes).toContain(index)
  expect(nodes).not.toContain('Seq Scan')
})

it.each<[keyof WindowFilters, string]>([
  ['status', 'change_windows_status_idx'],
  ['kind', 'change_windows_kind_idx'],
])('merges several values of %s in order through one index scan per value', async (name, index) => {
  const values = { status: ['active', 'inactive'], kind: ['blackout', 'maintenance'] }
  const { found, indexes, nodes } = await listed({ [name]: values[name as keyof typeof values] })
  expect(found).toHaveLength(50)
  expect(indexes).toEqual(expect.arrayContaining([index, index]))
  expect(nodes).toContain('Merge Append')
  expect(nodes).not.toContain('Seq Scan')
})

it.each<[SortField, string]>([
  ['createdAt', 'change_windows_created_idx'],
  ['updatedAt', 'change_windows_updated_idx'],
  ['name', 'change_windows_name_idx'],
])('orders by %s through an index, without a sort', async (sort, index) => {
  const { found, indexes, nodes } = await listed({}, sort)
  expect(found).toHaveLength(50)
  expect(indexes).toEqual([index])
  expect(nodes).toEqual(['Limit', 'Index Scan'])
})
