import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { connect, type Database, selectionConditions } from '@opsplane/postgres'
import { startTestService, type TestService } from '@opsplane/testing'
import { and, desc, eq } from 'drizzle-orm'
import { incidents } from '../../schema/incident.js'
import { itsm } from '../../service.js'
import { type IncidentFilters, incidentSelection } from './queries.js'

let service: TestService
let database: Database

beforeAll(async () => {
  service = await startTestService(itsm)
  database = connect(service.adminUrl, { schema: 'itsm', max: 1 })
  // One row in 5,000 matches, so that no other plan is as cheap.
  await service.sql`
    insert into incidents (id, workspace_id, environment, version, state)
    select 'inc_' || n, 'ws_plans', 'production', 1, json_build_object(
      'id', 'inc_' || n, 'number', 'INC-' || n, 'title', 'Checkout is slow', 'status', 'resolved',
      'createdAt', '2026-01-01T00:00:00.000Z', 'updatedAt', '2026-01-01T00:00:00.000Z',
      'priority', case when rare then 'P1' else 'P3' end, 'impact', case when rare then 'high' else 'medium' end,
      'urgency', case when rare then 'high' else 'medium' end,
      'majorState', case when rare then 'accepted' else 'none' end,
      'resolutionCode', case when rare then 'workaround' else 'fixed' end,
      'ciId', 'ci_' || n, 'callerId', 'usr_' || n, 'category', 'category_' || n,
      'channel', case when rare then 'walk_in' else 'email' end,
      'parentId', 'inc_' || n, 'problemId', 'prb_' || n, 'changeId', 'chg_' || n, 'dedupKey', 'key-' || n,
      'watcherIds', json_build_array('usr_' || n), 'tags', json_build_array('tag-' || n))
    from (select n, n % 5000 = 0 as rare from generate_series(1, 20000) n) all_of_them`
  await service.sql`vacuum analyze incidents`
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

const cases: [string, IncidentFilters][] = [
  ['incidents_priority_idx', { priority: ['P1'] }],
  ['incidents_impact_idx', { impact: ['high'] }],
  ['incidents_urgency_idx', { urgency: ['high'] }],
  ['incidents_resolution_idx', { resolutionCode: ['workaround'] }],
  ['incidents_major_idx', { majorState: 'accepted' }],
  ['incidents_parent_idx', { parentId: 'inc_77' }],
  ['incidents_problem_idx', { problemId: 'prb_77' }],
  ['incidents_change_idx', { changeId: 'chg_77' }],
  ['incidents_alert_idx', { dedupKey: 'key-77' }],
  ['incidents_item_idx', { ciId: 'ci_77' }],
  ['incidents_caller_idx', { callerId: 'usr_77' }],
  ['incidents_category_idx', { category: 'category_77' }],
  ['incidents_channel_idx', { channel: ['walk_in'] }],
  ['incidents_watched_idx', { watcherId: 'usr_77' }],
  ['incidents_tagged_idx', { tag: 'tag-77' }],
]

it.each(cases)('filters incidents through %s', async (index, filters) => {
  const query = database.db
    .select({ id: incidents.id })
    .from(incidents)
    .where(
      and(
        eq(incidents.workspaceId, 'ws_plans'),
        eq(incidents.environment, 'production'),
        ...selectionConditions(incidentSelection(filters)),
      ),
    )
    .orderBy(desc(incidents.createdAt), desc(incidents.id))
    .limit(51)
  const { sql: text, params } = query.toSQL()
  const types = params.map((value) => (typeof value === 'number' ? 'bigint' : 'text')).join(', ')
  const values = params.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ')
  await database.sql.unsafe(`prepare list_by_${index} (${types}) as ${text}`)
  // Drizzle prepares no statements, so Postgres plans for the actual values. Only then can it estimate how rare a list
  // member is, so lists are tested with custom plans only.
  const isList = filters.tag !== undefined || filters.watcherId !== undefined
  for (const mode of isList ? ['force_custom_plan'] : ['force_custom_plan', 'force_generic_plan']) {
    await database.sql.unsafe(`set plan_cache_mode = ${mode}`)
    const plan = await database.sql.unsafe(`explain execute list_by_${index} (${values})`)
    expect(JSON.stringify(plan)).toContain(index)
  }
  expect(await query).not.toEqual([])
})
