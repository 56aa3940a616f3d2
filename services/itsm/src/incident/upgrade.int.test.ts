import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { createEarlierDatabase, type EarlierDatabase } from '@opsplane/testing'
import { itsm } from '../service.js'
import { incidents as samples } from './sample-incidents.js'

let earlier: EarlierDatabase
let owner: Database
beforeAll(async () => {
  const { migrationsDir } = itsm
  earlier = await createEarlierDatabase({
    service: 'itsm',
    migrationsDir,
    before: '0007_queues_and_templates',
  })
  owner = earlier.owner
})
afterAll(async () => {
  await earlier?.drop()
})

it('incidents from before queues had an order take their place in them', async () => {
  const { priority: _priority, channel: _channel, ...withoutPriority } = samples.open
  const fields = { severity: 'critical', ciId: 'ci_1', callerId: 'usr_1', category: 'network' }
  const states = [
    { ...samples.open, ...fields, id: 'inc_urgent', number: 'INC-1', priority: 'P1', channel: 'phone' },
    { ...withoutPriority, id: 'inc_old', number: 'INC-2', severity: 'medium' },
  ]
  for (const state of states)
    await owner.sql`
      insert into incidents (id, workspace_id, environment, version, state)
      values (${state.id}, 'ws_before', 'production', 1, ${JSON.stringify(state)}::text::json)`

  await earlier.upgrade()
  const rows = await owner.sql`
    select id, by_priority, by_severity, ci_id, caller_id, category, channel from incidents order by by_priority`
  const { createdAt } = samples.open
  const none = { ci_id: null, caller_id: null, category: null, channel: null }
  expect([...rows]).toEqual([
    {
      ...{ id: 'inc_urgent', by_priority: `1 ${createdAt}`, by_severity: `1 ${createdAt}` },
      ...{ ci_id: 'ci_1', caller_id: 'usr_1', category: 'network', channel: 'phone' },
    },
    { id: 'inc_old', by_priority: `3 ${createdAt}`, by_severity: `3 ${createdAt}`, ...none },
  ])
})
