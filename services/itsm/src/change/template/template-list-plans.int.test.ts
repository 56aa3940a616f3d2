import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { listPage } from '@opsplane/eventstore'
import { cursorCodec } from '@opsplane/runtime'
import { startTestService, type TestService } from '@opsplane/testing'
import { listPlans, plansTenant } from '../../change-window/list-plan.fixture.js'
import { changes, changeTemplates } from '../../schema/change.js'
import { itsm } from '../../service.js'
import { changeSelection, sortColumns } from '../queries.js'
import { type TemplateFilters, templateSelection } from './template-list.js'

let service: TestService
let plans: ReturnType<typeof listPlans>

beforeAll(async () => {
  service = await startTestService(itsm)
  plans = listPlans(service.adminUrl)
  await service.sql`
    insert into change_templates (id, workspace_id, environment, version, state)
    select 'ctp_' || n, ${plansTenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'ctp_' || n, 'name', case when n % 5000 = 0 then 'Board' else 'Template ' || n end,
      'status', case when n % 5000 = 0 then 'inactive' else 'active' end,
      'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-01-01T00:00:00.000Z')
    from generate_series(1, 20000) n`
  await service.sql`
    insert into changes (id, workspace_id, environment, version, state)
    select 'chg_' || n, ${plansTenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'chg_' || n, 'number', 'CHG-' || n, 'title', 'Change ' || n, 'status', 'closed', 'type', 'standard',
      'risk', 'low', 'ciIds', json_build_array(), 'requesterId', 'usr_1',
      'templateId', case when n % 5000 = 0 then 'ctp_rare' else 'ctp_common' end,
      'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-01-01T00:00:00.000Z')
    from generate_series(1, 20000) n`
  await service.sql`vacuum analyze changes`
  await service.sql`vacuum analyze change_templates`
})
afterAll(async () => {
  await plans?.close()
  await service?.stop()
})

type SortField = 'createdAt' | 'updatedAt' | 'name'
const listed = (filters: TemplateFilters, sort: SortField = 'createdAt') =>
  plans.of((db) =>
    listPage(db, {
      asOf: undefined,
      table: changeTemplates,
      tenant: plansTenant,
      ...templateSelection(filters),
      sort: { column: changeTemplates[sort], direction: 'asc' },
      limit: 50,
      binding: 'plans',
      cursors: cursorCodec('x'.repeat(32)),
      present: ({ state }) => state.id,
    }),
  )

it.each<[string, TemplateFilters]>([
  ['change_templates_status_idx', { status: ['inactive'] }],
  ['change_templates_search_idx', { q: 'board' }],
])('finds change templates through %s', async (index, filters) => {
  for (const sort of ['createdAt', 'name'] as const) {
    const { found, indexes, nodes } = await listed(filters, sort)
    expect(found.toSorted()).toEqual(['ctp_10000', 'ctp_15000', 'ctp_20000', 'ctp_5000'])
    expect(indexes).toContain(index)
    expect(nodes).not.toContain('Seq Scan')
  }
})

it('merges several statuses in order through one index scan per status', async () => {
  const { found, indexes, nodes } = await listed({ status: ['active', 'inactive'] })
  expect(found).toHaveLength(50)
  expect(indexes).toEqual(expect.arrayContaining(['change_templates_status_idx']))
  expect(nodes).toContain('Merge Append')
  expect(nodes).not.toContain('Seq Scan')
})

it.each<[SortField, string]>([
  ['createdAt', 'change_templates_created_idx'],
  ['updatedAt', 'change_templates_updated_idx'],
  ['name', 'change_templates_name_idx'],
])('orders by %s through an index, without a sort', async (sort, index) => {
  const { found, indexes, nodes } = await listed({}, sort)
  expect(found).toHaveLength(50)
  expect(indexes).toEqual([index])
  expect(nodes).toEqual(['Limit', 'Index Scan'])
})

it('finds the changes of a template through their index', async () => {
  const { found, indexes, nodes } = await plans.of((db) =>
    listPage(db, {
      asOf: undefined,
      table: changes,
      tenant: plansTenant,
      ...changeSelection({ templateId: 'ctp_rare' }),
      sort: { column: sortColumns.createdAt, direction: 'desc' },
      limit: 50,
      binding: 'plans',
      cursors: cursorCodec('x'.repeat(32)),
      present: ({ state }) => state.id,
    }),
  )
  expect(found).toEqual(['chg_5000', 'chg_20000', 'chg_15000', 'chg_10000'])
  expect(indexes).toEqual(['changes_template_idx'])
  expect(nodes).not.toContain('Sort')
})
