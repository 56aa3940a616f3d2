import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  type ChangeStatus,
  newId,
  type PlatformEvent,
  type RelationType,
  type TenantScope,
} from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { itsm } from '../service.js'
import { findAffectedByItems } from './affected-by-items.js'
import { createTenantLinks } from './impact-links.js'

let service: TestService
let template: Change
beforeAll(async () => {
  service = await startTestService(itsm)
  template = (await service.as(testPrincipal()).post('/itsm/changes', { title: 'New disks' })).data(Change)
})
afterAll(() => service?.stop())

const asked: string[] = []
const counting = (): StatementRunner => {
  asked.length = 0
  const { unsafe } = service.sql
  return {
    unsafe: ((...given: Parameters<typeof unsafe>) => {
      asked.push(given[0])
      return service.sql.unsafe(...given)
    }) as typeof unsafe,
  }
}

const affectedBy = (events: PlatformEvent[], runner: StatementRunner = service.sql) =>
  findAffectedByItems(runner, events, createTenantLinks(runner))

const tenantOf = (workspaceId = `ws_${newId('ci')}`): TenantScope => ({
  workspaceId,
  environment: 'production',
})

interface Stored {
  id: string
  [field: string]: unknown
}

/** Maps the short names used in this test to item ids. */
const named = new Map<string, string>()
const ci = (name: string): string => {
  const id = named.get(name) ?? `ci_${String(named.size).padStart(26, '0')}`
  named.set(name, id)
  return id
}

/** Writes rows as the event store would. */
async function write(table: string, { workspaceId, environment }: TenantScope, states: Stored[]) {
  await service.sql.unsafe(
    `insert into ${table} (id, workspace_id, environment, version, state)
     select state->>'id', $1, $2, 1, state from json_array_elements($3::text::json) state`,
    [workspaceId, environment, JSON.stringify(states)],
  )
}
const item = (id: string) => ({
  ...{ id, name: id, class: 'server', status: 'operational', criticality: 'low', redundancy: {} },
  ...{ createdAt: template.createdAt, updatedAt: template.createdAt },
})
const relation = (sourceId: string, targetId: string, type: RelationType = 'depends_on') => ({
  ...{ id: newId('relation'), sourceId, targetId, type, createdBy: template.requester },
  createdAt: template.createdAt,
})
let number = 1_000
const planned = (id: string, ciIds: string[], hour: number, status: ChangeStatus = 'scheduled') => ({
  ...template,
  ...{ id, number: `CHG-${++number}`, ciIds, status },
  plannedStart: `2026-06-03T${String(hour).padStart(2, '0')}:00:00.000Z`,
  plannedEnd: `2026-06-03T${String(hour + 1).padStart(2, '0')}:00:00.000Z`,
})
function event(
  { workspaceId, environment }: TenantScope,
  type: 'ci.relation_added' | 'ci.relation_removed',
  state: ReturnType<typeof relation>,
): PlatformEvent {
  const added = type === 'ci.relation_added'
  return {
    ...{ id: newId('event'), type, workspaceId, environment, createdAt: template.createdAt },
    ...{ actor: template.requester, resource: { type: 'ci_relation', id: state.id, displayName: '' } },
    data: { before: added ? null : state, after: added ? state : null, changes: [] },
    ...{ version: 1, requestId: null, causationId: null, source: null },
  }
}

/** A thousand items in pairs, and two changes at each hour of a day, one of them on the far item of a pair. */
async function pairs(prefix: string, tenant: TenantScope) {
  const ids = Array.from({ length: 1_000 }, (_, index) => ci(`${prefix} ${index}`))
  await write('configuration_items', tenant, ids.map(item))
  const relations = ids.slice(0, 500).map((id, index) => relation(id, ids[index + 500] ?? ''))
  await write('ci_relations', tenant, relations)
  const hours = Array.from({ length: 20 }, (_, hour) => hour)
  const changes = hours.flatMap((hour) => [
    planned(`chg_${prefix}${hour}_a`, [ids[hour] ?? ''], hour),
    planned(`chg_${prefix}${hour}_b`, [ids[hour + 500] ?? ''], hour),
  ])
  await write('changes', tenant, changes)
  return { relations, changes: changes.map(({ id }) => id).sort() }
}

describe('the changes affected by changed relations', () => {
  it('are found with as many statements for a thousand relations as for one', async () => {
    const tenant = tenantOf()
    const { relations, changes } = await pairs('many', tenant)
    const events = relations.map((one) => event(tenant, 'ci.relation_added', one))
    const ofOne = await affectedBy(events.slice(7, 8), counting())
    const statements = asked.length
    expect(ofOne).toEqual([
      { id: 'chg_many7_a', event: events[7] },
      { id: 'chg_many7_b', event: events[7] },
    ])
    const ofAll = await affectedBy([...events, ...events], counting())
    expect(asked.length).toBeLessThanOrEqual(statements)
    expect(ofAll.map(({ id }) => id).sort()).toEqual(changes)
    for (const { id, event: cause } of ofAll)
      expect(cause).toBe(events[Number(id.replace(/\D*(\d+)_[ab]/, '$1'))])
  })

  it('belong to the same workspace and environment', async () => {
    const [here, there] = [tenantOf(), tenantOf()]
    const [mine, theirs] = [await pairs('here', here), await pairs('there', there)]
    const events = [
      ...mine.relations.slice(0, 1).map((one) => event(here, 'ci.relation_removed', one)),
      ...theirs.relations.slice(1, 2).map((one) => event(there, 'ci.relation_removed', one)),
      // Sent with the wrong workspace, or with the wrong environment.
      ...mine.relations.slice(2, 3).map((one) => event(there, 'ci.relation_removed', one)),
      ...mine.relations
        .slice(3, 4)
        .map((one) => event({ ...here, environment: 'staging' }, 'ci.relation_removed', one)),
    ]
    const found = await affectedBy(events)
    expect(found.map(({ id }) => id).sort()).toEqual([
      'chg_here0_a',
      'chg_here0_b',
      'chg_there1_a',
      'chg_there1_b',
    ])
  })

  it('are pending, planned, and overlap another change or have a recorded conflict', async () => {
    const tenant = tenantOf()
    const [source, target] = [ci('source'), ci('target')] as const
    const conflicts = [{ kind: 'dependent_ci', with: 'chg_gone', ciIds: [], message: '', from: '', to: '' }]
    await write('configuration_items', tenant, [item(source), item(target)])
    await write('changes', tenant, [
      planned('chg_alone', [source], 1),
      { ...planned('chg_keeping', [target], 2), conflicts },
      planned('chg_overlapped', [source], 3),
      planned('chg_begun', [target], 3, 'implementing'),
      planned('chg_draft', [source], 5, 'draft'),
      planned('chg_beside_draft', [target], 5),
      { ...planned('chg_unplanned', [source], 3), plannedStart: null, plannedEnd: null },
    ])
    const found = (type: RelationType) =>
      affectedBy([event(tenant, 'ci.relation_added', relation(source, target, type))])
    expect((await found('provides')).map(({ id }) => id)).toEqual(['chg_keeping', 'chg_overlapped'])
    expect(await found('connects_to')).toEqual([])
  })

  it('are all pending changes that overlap another one if too many items are in reach', async () => {
    const tenant = tenantOf()
    const crowd = Array.from({ length: 10_100 }, (_, index) => ci(`crowd ${index}`))
    await write('configuration_items', tenant, [ci('hub'), ci('disk'), ci('away'), ...crowd].map(item))
    await write(
      'ci_relations',
      tenant,
      crowd.map((id) => relation(id, ci('hub'))),
    )
    await write('changes', tenant, [
      planned('chg_crowd', [crowd.at(-1) ?? ''], 1),
      planned('chg_away', [ci('away')], 1),
      planned('chg_crowd_alone', [crowd[0] ?? ''], 4),
    ])
    const added = event(tenant, 'ci.relation_added', relation(ci('hub'), ci('disk')))
    expect(await affectedBy([added])).toEqual([
      { id: 'chg_away', event: added },
      { id: 'chg_crowd', event: added },
    ])
  })
})
