import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  CiImpact,
  type CiRelation,
  ConfigurationItem,
  Incident,
  newId,
  Problem,
  SlaPolicy,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { maxScannedRows } from '../cmdb/item/scanned-rows.fixture.js'
import { itsm } from '../service.js'
import { findSlasAtRisk } from './slas-at-risk.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

const policies = [
  { entityType: 'incident', metric: 'response', goalsBy: 'all', goals: { all: 30 } },
  { entityType: 'incident', metric: 'resolution', goalsBy: 'all', goals: { all: 240 } },
  { entityType: 'problem', metric: 'resolution', goalsBy: 'all', goals: { all: 120 } },
  { entityType: 'change', metric: 'resolution', goalsBy: 'all', goals: { all: 60 } },
]

/** A shop that depends on a database, and a printer without dependents. All their clocks run. */
async function desk() {
  const principal = testPrincipal()
  const api = service.as(principal)
  for (const policy of policies) {
    const name = `${policy.entityType} ${policy.metric}`
    ;(await api.post('/itsm/sla-policies', { name, ...policy })).data(SlaPolicy)
  }
  const item = async (name: string) =>
    (await api.post('/cmdb/items', { class: 'service', name, status: 'operational' })).data(ConfigurationItem)
      .id
  const [db, shop, printer] = [await item('db'), await item('shop'), await item('printer')]
  const relation: Partial<CiRelation> = { sourceId: shop, targetId: db, type: 'depends_on' }
  expect((await api.post('/cmdb/relations', relation)).status).toBe(201)
  return { principal, api, db, shop, printer }
}
const open = (ciId: string) => ({ title: 'Down', ciId })
const impactOf = async (api: ApiClient, id: string) =>
  (await api.get(`/cmdb/items/${id}/impact`)).data(CiImpact)
const clocks = async (api: ApiClient) =>
  (await api.get('/itsm/sla-timers?limit=100&state=running,paused')).page(SlaTimerItem).items

describe('the SLA clocks at risk', () => {
  it('are those of open records on failing or affected items, in order of due time', async () => {
    const { api, db, shop, printer } = await desk()
    const incident = (await api.post('/itsm/incidents', open(shop))).data(Incident)
    const held = (await api.post('/itsm/incidents', open(db))).data(Incident)
    const resolved = (await api.post('/itsm/incidents', open(db))).data(Incident)
    const other = (await api.post('/itsm/incidents', open(printer))).data(Incident)
    const change = (await api.post('/itsm/changes', { title: 'Disks', ciIds: [printer, shop, db] })).data(
      Change,
    )
    const problem = (await api.post('/itsm/problems', { title: 'Slow', ciIds: [shop, printer] })).data(
      Problem,
    )
    await api.patch(`/itsm/incidents/${held.id}`, { status: 'on_hold', holdReason: 'awaiting_vendor' })
    await api.post(`/itsm/incidents/${resolved.id}/resolve`)
    // The response clock of an incident on hold has ended, and so have all clocks of a resolved one.
    const expected = [
      ...[incident.id, other.id].flatMap((id) => [`${id} response running`, `${id} resolution running`]),
      ...[change.id, problem.id].map((id) => `${id} resolution running`),
      `${held.id} resolution paused`,
    ].sort()
    const running = await waitFor(async () => {
      const all = await clocks(api)
      const states = all.map(({ entityId, metric, state }) => `${entityId} ${metric} ${state}`)
      return states.sort().join() === expected.join() ? all : undefined
    })

    const { slasAtRisk: atRisk, slasTruncated } = await impactOf(api, db)
    expect(slasTruncated).toBe(false)
    expect(atRisk?.map(({ entityNumber, policyName, ciId }) => [entityNumber, policyName, ciId])).toEqual([
      [incident.number, 'incident response', shop],
      [change.number, 'change resolution', db],
      [problem.number, 'problem resolution', shop],
      [incident.number, 'incident resolution', shop],
      [held.number, 'incident resolution', db],
    ])
    for (const { timerId, ciId: _, ...shown } of atRisk ?? []) {
      expect(running.find(({ id }) => id === timerId)).toMatchObject(shown)
    }
    expect(atRisk?.map(({ state }) => state)).toEqual(['running', 'running', 'running', 'running', 'paused'])

    const ofShop = (await impactOf(api, shop)).slasAtRisk?.map(({ entityId, ciId }) => [entityId, ciId])
    expect(ofShop).toEqual([incident.id, change.id, problem.id, incident.id].map((id) => [id, shop]))
    const many = (await api.post('/cmdb/impact', { itemIds: [printer, db] })).data(CiImpact)
    expect(many.slasAtRisk).toHaveLength(7)
    expect(many.slasAtRisk?.find(({ entityId }) => entityId === change.id)?.ciId).toBe(printer)
  })

  it('are visible only to callers who may read SLA clocks', async () => {
    const { principal, api, db } = await desk()
    await api.post('/itsm/incidents', open(db))
    await waitFor(async () => (await clocks(api)).length === 2 || undefined)
    expect((await impactOf(api, db)).slasAtRisk).toHaveLength(2)
    const impact = await impactOf(service.as({ ...principal, permissions: ['cmdb:read'] }), db)
    expect(impact).not.toHaveProperty('slasAtRisk')
    expect(impact).not.toHaveProperty('slasTruncated')
  })
})

describe('the SLA clocks at risk among thousands of items', () => {
  const tenant = { workspaceId: newId('workspace'), environment: 'production' } as const
  const items = Array.from({ length: 3_000 }, () => newId('ci'))
  const due = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9, minute)).toISOString()
  const padded = (at: number) => String(at).padStart(26, '0')

  async function insert(table: string, rows: { id: string; workspaceId?: string; state: object }[]) {
    const given = rows.map(({ workspaceId = tenant.workspaceId, ...row }) => ({
      ...row,
      workspace_id: workspaceId,
    }))
    await service.sql.unsafe(
      `insert into ${table} (id, workspace_id, environment, version, state)
       select id, workspace_id, 'production', 1, state
         from json_to_recordset($1::text::json) as r(id text, workspace_id text, state json)`,
      [JSON.stringify(given)],
    )
  }
  const clock = (at: number, kind: string, entityId: string, dueAt: string | null, more: object = {}) => ({
    id: `tmr_${kind}${padded(at)}`,
    state: {
      ...{ entityType: kind, entityId, entityNumber: `N-${at}`, policyName: 'Gold', policyId: 'slp_1' },
      ...{
        metric: 'resolution',
        dueAt,
        breached: false,
        state: dueAt === null ? 'paused' : 'running',
        ...more,
      },
    },
  })
  const everyTenth = items.filter((_, at) => at % 10 === 0)

  beforeAll(async () => {
    // Simulates the state right after an import, as in the tests of the graph's query plans.
    for (const table of ['incidents', 'changes', 'problems', 'sla_timers'])
      await service.sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)
    const of = (kind: string, status: string, about: (ciId: string) => object, ids: string[]) =>
      ids.map((ciId, at) => ({
        id: `${kind}_${status}${padded(at)}`,
        state: { number: `${kind}-${at + 1}`, status, createdAt: due(0), ...about(ciId) },
      }))
    const one = (ciId: string) => ({ ciId })
    const several = (ciId: string) => ({ ciIds: [newId('ci'), ciId] })
    const incidents = of('INC', 'open', one, items)
    const [changes, problems] = [of('CHG', 'draft', several, items), of('PRB', 'new', several, items)]
    const theirs = { workspaceId: newId('workspace') }
    await insert('incidents', incidents)
    await insert('changes', changes)
    await insert('problems', problems)
    await insert('sla_timers', [
      ...incidents.map(({ id }, at) => clock(at, 'incident', id, due(2_000 + at))),
      ...changes.map(({ id }, at) => clock(at, 'change', id, at % 2 === 0 ? null : due(9_000 + at))),
      ...problems.map(({ id }, at) => clock(at, 'problem', id, due(5_000 - at), { breached: at % 3 === 0 })),
      ...incidents.map(({ id }, at) => ({
        ...clock(at, 'incident', id, due(0), { policyId: 'slp_2' }),
        ...{ id: `tmr_theirs${padded(at)}`, ...theirs },
      })),
    ])
  })

  it.each([
    ['few', everyTenth.slice(0, 40), 120],
    ['many', everyTenth, 900],
    ['all', items, 9_000],
  ])('are limited to the first hundred due: %s', async (_, itemIds, count) => {
    const place = (id: string) => items.indexOf(id)
    const expected = itemIds
      .flatMap((ciId) => [
        { ciId, entityType: 'incident', dueAt: due(2_000 + place(ciId)) },
        { ciId, entityType: 'change', dueAt: place(ciId) % 2 === 0 ? null : due(9_000 + place(ciId)) },
        { ciId, entityType: 'problem', dueAt: due(5_000 - place(ciId)) },
      ])
      .sort((a, b) => ((a.dueAt ?? 'x') < (b.dueAt ?? 'x') ? -1 : 1))
    expect(expected).toHaveLength(count)
    const found = await findSlasAtRisk(service.sql, tenant, itemIds)
    expect(found.slasTruncated).toBe(true)
    const shown = found.slasAtRisk.map(({ ciId, entityType, dueAt }) => ({ ciId, entityType, dueAt }))
    expect(shown).toEqual(expected.slice(0, 100))
    for (const { entityType, ciId, breached } of found.slasAtRisk)
      expect(breached).toBe(entityType === 'problem' && place(ciId) % 3 === 0)
  })

  it('are found by scanning each row only a few times', async () => {
    for (const itemIds of [everyTenth.slice(0, 40), items]) {
      const most = await maxScannedRows(service.sql, (sql) => findSlasAtRisk(sql, tenant, itemIds))
      // Clocks of two tenants, and two items of each change and problem.
      expect(most).toBeLessThan(10 * (3 * items.length + 4 * items.length + 4 * items.length))
    }
  })
})
