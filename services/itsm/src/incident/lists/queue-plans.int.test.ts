import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { listPage } from '@opsplane/eventstore'
import { cursorCodec } from '@opsplane/runtime'
import { startTestService, type TestService } from '@opsplane/testing'
import { listPlans, plansTenant } from '../../change-window/list-plan.fixture.js'
import { incidents } from '../../schema/incident.js'
import { itsm } from '../../service.js'
import { type IncidentFilters, incidentSelection, sortColumns } from './queries.js'

let service: TestService
let plans: ReturnType<typeof listPlans>

beforeAll(async () => {
  service = await startTestService(itsm)
  plans = listPlans(service.adminUrl)
  // Nearly all of the most urgent incidents have ended; only the
  // newest are open. A scan by rank alone would read most rows.
  await service.sql`
    insert into incidents (id, workspace_id, environment, version, state)
    select 'inc_' || n, ${plansTenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'inc_' || n, 'number', 'INC-' || n, 'title', 'Checkout is slow',
      'status', case when n <= 19800 then 'closed' when n % 10 = 0 then 'in_progress' else 'open' end,
      'createdAt', to_char(timestamp '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'updatedAt', '2026-01-01T00:00:00.000Z',
      'priority', case when n <= 15000 then 'P1' else 'P' || 2 + n % 4 end,
      'severity', case when n <= 15000 then 'critical' else (array['high', 'medium', 'low'])[1 + n % 3] end,
      'impact', 'medium', 'urgency', 'medium', 'majorState', 'none',
      'assignmentGroup', 'team_' || n % 3, 'assigneeId', 'usr_' || n % 20,
      'tags', json_build_array(), 'watcherIds', json_build_array())
    from generate_series(1, 20000) n`
  await service.sql`vacuum analyze incidents`
})
afterAll(async () => {
  await plans?.close()
  await service?.stop()
})

type Urgency = 'priority' | 'severity'
const listed = (filters: IncidentFilters, sort: Urgency, direction: 'asc' | 'desc') =>
  plans.of((db) =>
    listPage(db, {
      asOf: undefined,
      table: incidents,
      tenant: plansTenant,
      ...incidentSelection(filters, sort),
      sort: { column: sortColumns[sort], direction },
      limit: 50,
      binding: 'plans',
      cursors: cursorCodec('x'.repeat(32)),
      present: ({ state }) => state.id,
    }),
  )

const unended: IncidentFilters = { status: ['open', 'in_progress', 'on_hold'] }
it.each<[string, IncidentFilters, string, number]>([
  ['all', {}, 'status', 6],
  ['those that are open', unended, 'status', 3],
  ['those of one status', { status: ['open'] }, 'status', 1],
  ['those of a team', { assignmentGroup: 'team_1' }, 'group', 6],
  ['the open ones of a team', { ...unended, assignmentGroup: 'team_1' }, 'group', 3],
  ['those of a person', { assigneeId: 'usr_7' }, 'assignee', 6],
])('reads incidents by urgency through indexes, without a sort: %s', async (_, filters, name, scans) => {
  for (const sort of ['priority', 'severity'] as const)
    for (const direction of ['asc', 'desc'] as const) {
      const { found, indexes, nodes } = await listed(filters, sort, direction)
      expect(found).toHaveLength(50)
      const ordered = indexes.filter((index) => index === `incidents_${name}_${sort}_idx`)
      expect(ordered).toHaveLength(scans)
      expect(nodes).not.toContain('Seq Scan')
      expect(nodes.includes('Merge Append')).toBe(scans > 1)
    }
})

it('starts the index scan at the requested priority', async () => {
  const { found, indexes } = await listed({ status: ['closed'], priority: ['P4'] }, 'priority', 'asc')
  expect(found[0]).toBe('inc_15002')
  expect(indexes).toEqual(['incidents_status_priority_idx'])
})
