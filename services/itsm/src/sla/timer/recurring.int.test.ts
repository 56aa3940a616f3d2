import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  CatalogRequest,
  Change,
  ExplainedSlaTimer,
  Incident,
  IncidentComment,
  IncidentSla,
  type NewSlaPolicy,
  type Principal,
  SlaPolicy,
  SlaPreview,
  SlaReapplied,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { createActiveItem, order, rules, team } from '../../catalog/catalog.fixture.js'
import { itsm } from '../../service.js'

/** A Monday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const iso = (ms: number) => new Date(ms).toISOString()
const minute = 60_000
const minutes = (count: number) => {
  nowMs += count * minute
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock: { now: () => iso(nowMs) } } })
})
afterAll(() => service?.stop())

/** Another person in the same workspace. */
const person = (of: Principal, name: string): Principal => ({
  ...of,
  userId: `usr_${name}`,
  actor: { id: `usr_${name}`, name, type: 'user' },
})

async function createPolicy(api: ApiClient, policy: Partial<z.input<typeof NewSlaPolicy>>) {
  const all = { name: 'Every answer', metric: 'next_response', goalsBy: 'all', goals: { all: 60 } }
  return (await api.post('/itsm/sla-policies', { ...all, warnings: [], ...policy })).data(SlaPolicy)
}

/** Waits until the only clock of an entity matches and returns it. */
const clockOf = (api: ApiClient, entityId: string, having: object = {}) =>
  waitFor(async () => {
    const { items } = (await api.get(`/itsm/sla-timers?entityId=${entityId}`)).page(SlaTimerItem)
    expect(items).toMatchObject([having])
    return items[0] as SlaTimerItem
  })
/** The event types of a clock in the log, in order. */
const reported = async ({ id }: { id: string }) => {
  const rows = await service.sql<{ type: string }[]>`
    select type from events where stream_id = ${id} order by version`
  return rows.map(({ type }) => type)
}
/** Waits until the clocks have applied an entity's events up to this version. */
const applied = (id: string, version: number) =>
  waitFor(async () => {
    const [row] = await service.sql`select version from sla_progress where incident_id = ${id}`
    return row?.version === version
  })
/** Due times of the breaches that were reported as events of the incident. */
const toldInItsName = async (incidentId: string) => {
  const rows = await service.sql<{ due: string }[]>`
    select data->>'dueAt' as due from events
    where type = 'incident.sla_breached' and data->'after'->>'id' = ${incidentId} order by 1`
  return rows.map(({ due }) => due)
}

/** An incident with a caller, and the users who comment on it. */
async function conversation(policy: Partial<z.input<typeof NewSlaPolicy>> = {}) {
  const principal = testPrincipal()
  const [api, caller, agent] = [
    service.as(principal),
    service.as(person(principal, 'caller')),
    service.as(person(principal, 'agent')),
  ]
  const made = await createPolicy(api, policy)
  const opened = async () =>
    (await api.post('/itsm/incidents', { title: 'Checkout answers 502', callerId: 'usr_caller' })).data(
      Incident,
    )
  const { id } = await opened()
  const path = `/itsm/incidents/${id}`
  const says = async (who: ApiClient, of = path) =>
    (await who.post(`${of}/comments`, { body: 'Any news?' })).data(IncidentComment)
  return { api, caller, agent, policy: made, id, path, says, opened }
}

describe('the SLA clock for the next response', () => {
  it('breaches once per span, and its explanation covers the current span', async () => {
    const { api, caller, agent, id, path, says } = await conversation()
    minutes(5)
    const first = nowMs
    await says(caller)
    await clockOf(api, id, { state: 'running', startedAt: iso(first), dueAt: iso(first + 60 * minute) })
    minutes(10)
    await says(caller)
    minutes(60)
    await clockOf(api, id, { breached: true, breachedAt: iso(first + 60 * minute) })
    await says(agent)
    const timer = await clockOf(api, id, { state: 'completed', cycle: 1, breached: true })
    expect(await reported(timer)).toEqual(['sla.started', 'sla.breached', 'sla.missed'])

    minutes(30)
    const second = nowMs
    await says(caller)
    await clockOf(api, id, { state: 'running', cycle: 2, startedAt: iso(second), breached: false })
    minutes(10)
    const held = { status: 'on_hold', holdReason: 'awaiting_vendor' }
    await api.patch(path, held)
    await clockOf(api, id, { state: 'paused' })
    minutes(20)
    await api.patch(path, { status: 'in_progress' })
    await clockOf(api, id, { state: 'running', dueAt: iso(second + 80 * minute) })
    minutes(55)
    await clockOf(api, id, { breached: true, breachedAt: iso(second + 80 * minute) })

    const explain = async (asOf = '') => (await api.get(`${path}/sla${asOf}`)).data(IncidentSla).timers
    const [now] = await explain()
    expect(now?.intervals.map(({ from, state, countedMs }) => [from, state, countedMs])).toEqual([
      [iso(second), 'running', 10 * minute],
      [iso(second + 10 * minute), 'paused', 0],
      [iso(second + 30 * minute), 'running', 55 * minute],
    ])
    expect(now).toMatchObject({ elapsedMs: 65 * minute, remainingMs: -5 * minute })
    const [then] = await explain(`?asOf=${iso(first + 30 * minute)}`)
    expect(then).toMatchObject({ cycle: 1, startedAt: iso(first), elapsedMs: 30 * minute, breached: false })

    await api.post(`${path}/resolve`)
    await clockOf(api, id, { state: 'completed', cycle: 2 })
    expect((await reported(timer)).slice(3)).toEqual([
      ...['sla.started', 'sla.paused', 'sla.resumed', 'sla.breached', 'sla.missed'],
    ])
    expect(await toldInItsName(id)).toEqual([iso(first + 60 * minute), iso(second + 80 * minute)])
  })

  it('breaches once per span, whichever replica restarts', async () => {
    const { api, caller, agent, id, says, opened } = await conversation()
    const other = await opened()
    const at = nowMs
    const startedAt = (ms: number) => service.replica({ clock: { now: () => iso(ms) } })
    await says(caller)
    await clockOf(api, id, { state: 'running' })
    minutes(10)
    await says(caller, `/itsm/incidents/${other.id}`)
    await clockOf(api, other.id, { state: 'running' })

    const early = await startedAt(at + 62 * minute)
    await clockOf(api, id, { breached: true })
    await early.stop()
    // Once the other clock has breached, this replica has handled everything due by then.
    const late = await startedAt(at + 75 * minute)
    const timer = await clockOf(api, other.id, { breached: true }).then(() => clockOf(api, id))
    await late.stop()
    expect(await reported(timer)).toEqual(['sla.started', 'sla.breached'])

    minutes(80)
    await says(agent)
    minutes(1)
    await says(caller)
    await clockOf(api, id, { cycle: 2, state: 'running', breached: false, startedAt: iso(nowMs) })
    for (const [lives, ahead] of [62, 90].entries()) {
      const again = await startedAt(nowMs + ahead * minute)
      await clockOf(api, id, { breached: true })
      const third = await opened()
      await says(caller, `/itsm/incidents/${third.id}`)
      await clockOf(api, third.id, { breached: true })
      await again.stop()
      expect([lives, await reported(timer)]).toEqual([
        lives,
        ['sla.started', 'sla.breached', 'sla.missed', 'sla.started', 'sla.breached'],
      ])
    }
    expect(await toldInItsName(id)).toEqual([iso(at + 60 * minute), iso(nowMs + 60 * minute)])
  })

  it('counts from the first unanswered comment if the policy applies later, as its preview shows', async () => {
    const { api, caller, id, path, says, policy } = await conversation({ conditions: { category: 'vip' } })
    const tried = async () =>
      (await api.post(`/itsm/sla-policies/${policy.id}/preview`, { entityId: id })).data(SlaPreview)
    expect(await tried()).toMatchObject({ applies: false, reason: 'not_begun' })
    const asked = nowMs
    await says(caller)
    // Events that the clocks have already applied change nothing.
    await applied(id, 2)
    expect(await tried()).toMatchObject({ applies: false, reason: 'conditions' })
    minutes(20)
    await api.patch(path, { category: 'vip' })
    const { id: timerId } = await clockOf(api, id, { state: 'running', startedAt: iso(asked) })
    const explained = (await api.get(`/itsm/sla-timers/${timerId}`)).data(ExplainedSlaTimer)
    expect(explained).toMatchObject({ elapsedMs: 20 * minute, cycle: 1 })
    const { clock } = await tried()
    expect({ ...clock, id: timerId }).toEqual(explained)
  })

  it('uses the current policy when the next span starts', async () => {
    const { api, caller, agent, id, policy, says } = await conversation()
    await says(caller)
    await says(agent)
    await clockOf(api, id, { state: 'completed', policyRevision: 1 })
    await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { all: 20 } })
    await says(caller)
    await clockOf(api, id, { state: 'running', policyRevision: 2, goalMs: 20 * minute, cycle: 2 })
    await says(agent)
    const timer = await clockOf(api, id, { state: 'completed', cycle: 2 })
    await api.send('DELETE', `/itsm/sla-policies/${policy.id}`)
    const { version } = (await says(caller)) && (await api.get(`/itsm/incidents/${id}`)).data(Incident)
    await applied(id, version)
    expect(await reported(timer)).toEqual(['sla.started', 'sla.met', 'sla.started', 'sla.met'])
  })
})

it('emits events that happened before a policy was reapplied but were applied after it', async () => {
  const { api, caller, agent, id, policy, says } = await conversation()
  await says(caller)
  const timer = await clockOf(api, id, { state: 'running' })
  await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { all: 20 } })
  minutes(10)
  await service.sql.begin(async (tx) => {
    // While this row is locked, events of the incident cannot be applied.
    await tx`select 1 from sla_progress where incident_id = ${id} for update`
    await says(agent)
    await says(caller)
    const reply = await api.post(`/itsm/sla-policies/${policy.id}/reapply`, { dryRun: false })
    expect(reply.data(SlaReapplied)).toMatchObject({ applied: 1, remaining: 0 })
    expect(await reported(timer)).toEqual(['sla.started', 'sla.retargeted'])
  })
  await clockOf(api, id, { state: 'running', startedAt: iso(nowMs), cycle: 3, goalMs: 20 * minute })
  expect(await reported(timer)).toEqual(['sla.started', 'sla.retargeted', 'sla.met', 'sla.started'])
})

describe('the SLA clock for an approval', () => {
  it('runs for a change from each submission to the decision, and is paused on hold', async () => {
    const principal = testPrincipal()
    const [requester, approver, secondApprover] = ['requester', 'approver', 'secondApprover'].map((name) =>
      service.as(person(principal, name)),
    )
    if (!requester || !approver || !secondApprover) throw new Error('a client is missing')
    await createPolicy(requester, { entityType: 'change', metric: 'approval' })
    const planned = { plannedStart: '2026-04-07T22:00:00.000Z', plannedEnd: '2026-04-08T02:00:00.000Z' }
    const plans = { implementationPlan: 'Add, move, remove.', backoutPlan: 'Move back.' }
    const draft = { title: 'Move to new disks', assigneeId: 'usr_worker', ...planned, ...plans }
    const { id } = (await requester.post('/itsm/changes', draft)).data(Change)
    const act = async (who: ApiClient, action: string, body?: object) =>
      (await who.post(`/itsm/changes/${id}/${action}`, body)).data(Change)
    minutes(10)
    const submitted = nowMs
    await act(requester, 'submit')
    await clockOf(requester, id, { state: 'running', startedAt: iso(submitted) })
    minutes(10)
    await act(requester, 'hold', { reason: 'Vendor.' })
    await clockOf(requester, id, { state: 'paused', dueAt: null })
    minutes(300)
    await act(requester, 'resume')
    await clockOf(requester, id, { state: 'running', dueAt: iso(submitted + 360 * minute) })
    await act(approver, 'reject', { reason: 'Not at the quarter end.' })
    const timer = await clockOf(requester, id, { state: 'completed', breached: false })

    minutes(10)
    const again = nowMs
    await act(requester, 'submit')
    await clockOf(requester, id, { state: 'running', cycle: 2, startedAt: iso(again) })
    await act(approver, 'approve')
    minutes(65)
    await clockOf(requester, id, { breached: true, breachedAt: iso(again + 60 * minute) })
    await act(secondApprover, 'approve')
    await clockOf(requester, id, { state: 'completed', cycle: 2, breached: true })
    expect(await reported(timer)).toEqual([
      ...['sla.started', 'sla.paused', 'sla.resumed', 'sla.met'],
      ...['sla.started', 'sla.breached', 'sla.missed'],
    ])
  })

  it('runs for a request until it is approved or rejected, and is canceled with the request', async () => {
    const members = team(service)
    const { manager, ada, approver } = members
    const reading = ({ principal }: typeof manager) =>
      service.as({ ...principal, permissions: [...principal.permissions, 'itsm:read', 'sla:write'] })
    const [api, hers] = [reading(manager), reading(ada)]
    await createPolicy(api, { entityType: 'request', metric: 'approval' })
    const item = await createActiveItem(members, { approvals: rules(members) })
    const requests = [await order(ada.api, item), await order(ada.api, item), await order(ada.api, item)]
    const [approved, rejected, canceled] = requests
    if (!approved || !rejected || !canceled) throw new Error('nothing asked for')
    for (const { id } of requests) await clockOf(hers, id, { state: 'running' })
    const act = async (who: ApiClient, { id }: { id: string }, action: string, body?: object) =>
      (await who.post(`/catalog/requests/${id}/${action}`, body)).data(CatalogRequest)
    minutes(30)
    await act(approver.api, approved, 'approve')
    await act(approver.api, rejected, 'reject', { reason: 'Too dear.' })
    await act(ada.api, canceled, 'cancel', { reason: 'No longer needed.' })
    const kept = await clockOf(hers, approved.id, { state: 'completed', breached: false })
    expect(await reported(kept)).toEqual(['sla.started', 'sla.met'])
    expect(await reported(await clockOf(hers, rejected.id, { state: 'completed' }))).toEqual([
      'sla.started',
      'sla.met',
    ])
    expect(await reported(await clockOf(hers, canceled.id, { state: 'canceled' }))).toEqual([
      'sla.started',
      'sla.canceled',
    ])
  })
})

it('rejects the metrics approval and next_response for entity types without them', async () => {
  const api = service.as(testPrincipal())
  const refused = async (entityType: string, metric: string, fields: object = {}) => {
    const body = { name: 'Gold', entityType, metric, goalsBy: 'all', goals: { all: 60 }, ...fields }
    return (await api.post('/itsm/sla-policies', body)).error().details?.[0]
  }
  for (const [entityType, metric] of [
    ['incident', 'approval'],
    ['problem', 'approval'],
    ['problem', 'next_response'],
    ['change', 'next_response'],
    ['request', 'next_response'],
  ] as const)
    expect(await refused(entityType, metric)).toMatchObject({ path: '/metric', code: 'unfit_metric' })
  expect(await refused('change', 'approval', { conditions: { status: 'scheduled' } })).toMatchObject({
    path: '/conditions/status',
    code: 'never_starts',
  })
  expect(await refused('request', 'approval', { pauseStatuses: ['awaiting_approval'] })).toMatchObject({
    path: '/pauseStatuses',
    code: 'never_runs',
  })
})

it('restores identical SLA clocks when they are rebuilt from the log', async () => {
  const rows = () => service.sql`select id, version, state from sla_timers order by id`
  // Wait until everything made due by earlier tests is reported: rows must not change during the comparison.
  const due = iso(nowMs - 2_000)
  await waitFor(async () => {
    const [left] = await service.sql`select count(*)::int from sla_timers where next_fire_at <= ${due}`
    return left?.count === 0
  })
  const before = await rows()
  expect(before.length).toBeGreaterThan(5)
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
