import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { listPage } from '@opsplane/eventstore'
import { cursorCodec } from '@opsplane/runtime'
import { startTestService, type TestService } from '@opsplane/testing'
import { listPlans, plansTenant } from '../../change-window/list-plan.fixture.js'
import { changePolicies } from '../../schema/change.js'
import { itsm } from '../../service.js'
import { type PolicyFilters, policySelection } from './policy-list.js'

let service: TestService
let plans: ReturnType<typeof listPlans>

beforeAll(async () => {
  service = await startTestService(itsm)
  plans = listPlans(service.adminUrl)
  await service.sql`
    insert into change_policies (id, workspace_id, environment, version, state)
    select 'cpl_' || n, ${plansTenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'cpl_' || n, 'name', case when n % 5000 = 0 then 'Board' else 'Policy ' || n end, 'order', n,
      'status', case when n % 5000 = 0 then 'inactive' else 'active' end,
      'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-01-01T00:00:00.000Z')
    from generate_series(1, 20000) n`
  await service.sql`vacuum analyze change_policies`
})
afterAll(async () => {
  await plans?.close()
  await service?.stop()
})

type SortField = 'order' | 'createdAt' | 'updatedAt' | 'name'
const listed = (filters: PolicyFilters, sort: SortField = 'createdAt') =>
  plans.of((db) =>
    listPage(db, {
      asOf: undefined,
      table: changePolicies,
      tenant: plansTenant,
      ...policySelection(filters),
      sort: { column: changePolicies[sort], direction: 'asc' },
      limit: 50,
      binding: 'plans',
      cursors: cursorCodec('x'.repeat(32)),
      present: ({ state }) => state.id,
    }),
  )

it.each<[string, PolicyFilters]>([
  ['change_policies_status_idx', { status: ['inactive'] }],
  ['change_policies_search_idx', { q: 'board' }],
])('finds change policies through %s', async (index, filters) => {
  for (const sort of ['createdAt', 'order'] as const) {
    const { found, indexes, nodes } = await listed(filters, sort)
    expect(found.toSorted()).toEqual(['cpl_10000', 'cpl_15000', 'cpl_20000', 'cpl_5000'])
    expect(indexes).toContain(index)
    expect(nodes).not.toContain('Seq Scan')
  }
})

it('merges several statuses in order through one index scan per status', async () => {
  const { found, indexes, nodes } = await listed({ status: ['active', 'inactive'] })
  expect(found).toHaveLength(50)
  expect(indexes).toEqual(expect.arrayContaining(['change_policies_status_idx']))
  expect(nodes).toContain('Merge Append')
  expect(nodes).not.toContain('Seq Scan')
})

it.each<[SortField, string]>([
  ['order', 'change_policies_order_idx'],
  ['createdAt', 'change_policies_created_idx'],
  ['updatedAt', 'change_policies_updated_idx'],
  ['name', 'change_policies_name_idx'],
])('orders by %s through an index, without a sort', async (sort, index) => {
  const { found, indexes, nodes } = await listed({}, sort)
  expect(found).toHaveLength(50)
  expect(indexes).toEqual([index])
  expect(nodes).toEqual(['Limit', 'Index Scan'])
})
