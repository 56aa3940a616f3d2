import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  ExplainedSlaTimer,
  Incident,
  IncidentSla,
  type NewSlaPolicy,
  Problem,
  SlaPolicy,
  SlaPreview,
  SlaReapplied,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { newTemplate } from '../../change/template/template.fixture.js'
import { itsm } from '../../service.js'
import { copyClocks, copyEvents } from '../timer/sweep.fixture.js'

/** A Monday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }
const minutes = (count: number) => {
  nowMs += count * 60_000
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

const goals = { critical: 15, high: 30, medium: 60, low: 60 }
async function createPolicy(api: ApiClient, policy: Partial<z.input<typeof NewSlaPolicy>> = {}) {
  const body = { name: 'Gold', metric: 'resolution', goals, ...policy }
  return (await api.post('/itsm/sla-policies', body)).data(SlaPolicy)
}
const open = async (api: ApiClient, fields: object = {}) =>
  (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)
const clocksOf = async (api: ApiClient, id: string) =>
  (await api.get(`/itsm/incidents/${id}/sla`)).data(IncidentSla).timers
const clockOf = (api: ApiClient, id: string, having: object = {}) =>
  waitFor(async () => {
    const [timer] = await clocksOf(api, id)
    expect(timer).toMatchObject(having)
    return timer
  })

describe('goals of an SLA policy', () => {
  it('are keyed by priority if the policy says so, and otherwise by severity', async () => {
    const api = service.as(testPrincipal())
    const byPriority = { goalsBy: 'priority' as const, goals: { P1: 5, P3: 90 } }
    const policy = await createPolicy(api, byPriority)
    expect(policy).toMatchObject({ ...byPriority, pauseReasons: ['awaiting_caller', 'awaiting_vendor'] })
    const { id, priority } = await open(api, { severity: 'medium' })
    await clockOf(api, id, { goalsBy: 'priority', goalKey: priority, goalMs: 90 * 60_000 })
    await api.patch(`/itsm/incidents/${id}`, { impact: 'high', urgency: 'high' })
    await clockOf(api, id, { goalKey: 'P1', goalMs: 5 * 60_000, cycle: 2 })
    expect(await createPolicy(api)).toMatchObject({ goalsBy: 'severity' })
  })

  it('with unsuitable keys are rejected with their path', async () => {
    const api = service.as(testPrincipal())
    const policy = await createPolicy(api)
    const refused = async (body: object) => {
      const reply = await api.patch(`/itsm/sla-policies/${policy.id}`, body)
      const { code, details } = reply.error()
      return [code, details?.[0]?.path]
    }
    expect(await refused({ goals: { P1: 5 } })).toEqual(['validation_failed', '/goals/P1'])
    expect(await refused({ goalsBy: 'priority' })).toEqual(['validation_failed', '/goals/critical'])
    expect(await refused({ goals: { urgent: 5 } })).toEqual(['validation_failed', '/goals/urgent'])
    const both = { goalsBy: 'priority', goals: { P1: 5 } }
    const patched = (await api.patch(`/itsm/sla-policies/${policy.id}`, both)).data(SlaPolicy)
    expect(patched).toMatchObject({ ...both, revision: 2 })
  })

  it('are rejected with the path of a condition that is too long', async () => {
    const api = service.as(testPrincipal())
    const body = { name: 'Gold', metric: 'resolution', goals: { critical: 5 } }
    const refused = async (conditions: object) => {
      const [detail] = (await api.post('/itsm/sla-policies', { ...body, conditions })).error().details
      return [detail?.path, detail?.code]
    }
    const text = 'x'.repeat(1_001)
    expect(await refused({ category: text })).toEqual(['/conditions/category', 'too_big'])
    expect(await refused({ title: { contains: text } })).toEqual(['/conditions/title/contains', 'too_big'])
    const values = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(200))
    expect(await refused({ category: { in: values } })).toEqual(['/conditions', 'custom'])
  })
})

describe('a preview of an SLA policy', () => {
  it('that is inactive shows the clock it would have produced', async () => {
    const api = service.as(testPrincipal())
    const active = await createPolicy(api, { warnings: [50] })
    const { id, number } = await open(api)
    minutes(10)
    await api.patch(`/itsm/incidents/${id}`, { status: 'on_hold', holdReason: 'awaiting_vendor' })
    minutes(30)
    await api.patch(`/itsm/incidents/${id}`, { status: 'in_progress', severity: 'critical' })
    minutes(6)
    const real = await clockOf(api, id, { state: 'running', breached: true, goalKey: 'critical' })
    const draft = await createPolicy(api, { warnings: [50], status: 'inactive' })
    const preview = (await api.post(`/itsm/sla-policies/${draft.id}/preview`, { entityId: number })).data(
      SlaPreview,
    )
    const { id: _, policyId, updatedAt, ...expected } = real
    expect(policyId).toBe(active.id)
    expect(preview).toMatchObject({ entityId: id, applies: true, reason: null })
    expect(preview.clock).toMatchObject({ ...expected, policyId: draft.id })
    expect(await clocksOf(api, id)).toHaveLength(1)
  })

  it('reports why there would be no clock', async () => {
    const api = service.as(testPrincipal())
    const { id } = await open(api, { severity: 'low' })
    const tried = async (policy: Partial<z.input<typeof NewSlaPolicy>>) => {
      const draft = await createPolicy(api, { status: 'inactive', ...policy })
      const reply = await api.post(`/itsm/sla-policies/${draft.id}/preview`, { entityId: id })
      const { applies, reason, clock } = reply.data(SlaPreview)
      return [applies, reason, clock]
    }
    expect(await tried({ goals: { critical: 5 } })).toEqual([false, 'no_goal', null])
    expect(await tried({ conditions: { category: 'vip' } })).toEqual([false, 'conditions', null])
    await api.post(`/itsm/incidents/${id}/resolve`)
    expect(await tried({ conditions: { status: 'resolved' } })).toEqual([false, 'ended', null])
  })

  it('requires an entity of the same workspace', async () => {
    const api = service.as(testPrincipal())
    const policy = await createPolicy(api)
    const elsewhere = await open(service.as(testPrincipal()))
    const reply = await api.post(`/itsm/sla-policies/${policy.id}/preview`, { entityId: elsewhere.id })
    expect(reply.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/entityId' }] })
  })
})

describe('the list of SLA clocks', () => {
  it('filters, sorts and paginates, with paused clocks last by due time', async () => {
    const api = service.as(testPrincipal())
    const policy = await createPolicy(api, { warnings: [] })
    const [critical, low, medium] = [
      await open(api, { severity: 'critical' }),
      await open(api, { severity: 'low' }),
      await open(api),
    ]
    await api.patch(`/itsm/incidents/${medium.id}`, { status: 'on_hold', holdReason: 'awaiting_vendor' })
    await clockOf(api, medium.id, { state: 'paused' })
    const list = async (query: string) => {
      const items: string[] = []
      let after = ''
      do {
        const page = (await api.get(`/itsm/sla-timers?limit=1&${query}${after}`)).page(SlaTimerItem)
        items.push(...page.items.map(({ entityId }) => entityId))
        after = page.pagination.nextCursor ? `&after=${page.pagination.nextCursor}` : ''
      } while (after !== '')
      return items
    }
    const all = [critical.id, low.id, medium.id]
    await waitFor(async () => (await list('')).length === 3)
    expect((await list('')).sort()).toEqual([...all].sort())
    expect(await list('sort=dueAt')).toEqual(all)
    expect(await list('sort=-dueAt')).toEqual(all.toReversed())
    minutes(20)
    await clockOf(api, critical.id, { breached: true })
    expect(await list('breached=true')).toEqual([critical.id])
    expect(await list('breached=false&sort=dueAt')).toEqual([low.id, medium.id])
    expect(await list('state=paused,completed')).toEqual([medium.id])
    expect(await list(`entityType=incident&entityId=${low.id}&policyId=${policy.id}`)).toEqual([low.id])
    expect(await list('entityType=problem')).toEqual([])
    expect(await list(`dueBefore=${clock.now()}`)).toEqual([critical.id])
    const other = service.as(testPrincipal())
    expect((await other.get('/itsm/sla-timers')).page(SlaTimerItem).items).toEqual([])
    const unable = service.as(testPrincipal({ permissions: ['itsm:write'] }))
    expect((await unable.get('/itsm/sla-timers')).status).toBe(403)
  })

  it('contains ids under which each clock is readable with its explanation', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    await createPolicy(api)
    const { id } = await open(api)
    const timer = await clockOf(api, id)
    expect((await api.get(`/itsm/sla-timers/${timer.id}`)).data(ExplainedSlaTimer)).toEqual(timer)
    const staging = service.as({ ...principal, environment: 'staging' })
    expect((await staging.get(`/itsm/sla-timers/${timer.id}`)).status).toBe(404)
  })
})

describe('SLA clocks of a problem', () => {
  it('use goals by priority, and emit breaches only for the problem', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    const problems = { entityType: 'problem' as const, goals: { P1: 30, P2: 60 }, pauseStatuses: ['assess'] }
    const policy = await createPolicy(api, { ...problems, warnings: [] })
    expect(policy).toMatchObject({ goalsBy: 'priority', pauseReasons: [] })
    const levels = { impact: 'high', urgency: 'medium' }
    const body = { title: 'Connections leak under load', ...levels }
    const { id, number } = (await api.post('/itsm/problems', body)).data(Problem)
    const clock = (having: object) =>
      waitFor(async () => {
        const { items } = (await api.get(`/itsm/sla-timers?entityId=${id}`)).page(SlaTimerItem)
        expect(items).toMatchObject([having])
        return items[0]
      })
    await clock({ entityType: 'problem', entityNumber: number, goalKey: 'P2', state: 'running' })
    minutes(10)
    await api.post(`/itsm/problems/${id}/assess`)
    await clock({ state: 'paused' })
    minutes(50)
    await api.patch(`/itsm/problems/${id}`, { urgency: 'high' })
    await api.post(`/itsm/problems/${id}/analyze`)
    const due = new Date(nowMs + 20 * 60_000).toISOString()
    const running = await clock({ state: 'running', goalKey: 'P1', dueAt: due })
    const preview = (await api.post(`/itsm/sla-policies/${policy.id}/preview`, { entityId: number })).data(
      SlaPreview,
    )
    expect(preview).toMatchObject({ entityId: id, applies: true, clock: { dueAt: due, elapsedMs: 600_000 } })
    minutes(30)
    await clock({ breached: true, breachedAt: due })
    await api.post(`/itsm/problems/${id}/close`, { resolution: 'risk_accepted', resolutionNotes: 'Rare.' })
    await clock({ state: 'completed' })
    const reported = await service.sql<{ type: string; cause: string | null }[]>`
      select type, data->>'cause' as cause from events where stream_id = ${running.id}
        or (stream_type = 'incident_sla_breaches' and workspace_id = ${principal.workspaceId ?? ''})
      order by position`
    expect(reported.map(({ type, cause }) => [type, cause])).toEqual([
      ['sla.started', null],
      ['sla.paused', null],
      ['sla.retargeted', 'priority'],
      ['sla.resumed', null],
      ['sla.breached', null],
      ['sla.missed', null],
    ])
  })
})

describe('SLA clocks of a change', () => {
  it('have one goal for all, and are paused in draft and on hold', async () => {
    const api = service.as(testPrincipal())
    const changes = { entityType: 'change' as const, goals: { all: 60 }, pauseStatuses: ['draft', 'on_hold'] }
    expect(await createPolicy(api, changes)).toMatchObject({ goalsBy: 'all' })
    const body = {
      ...{ title: 'Rotate the certificates', type: 'standard', templateId: await newTemplate(api) },
      ...{ plannedStart: '2026-04-01T00:00:00.000Z', plannedEnd: '2026-04-01T01:00:00.000Z' },
    }
    const { id } = (await api.post('/itsm/changes', body)).data(Change)
    const clock = (having: object) =>
      waitFor(async () => {
        const [item] = (await api.get(`/itsm/sla-timers?entityId=${id}`)).page(SlaTimerItem).items
        expect(item).toMatchObject(having)
        return item
      })
    const act = async (action: string, fields: object) => {
      ;(await api.post(`/itsm/changes/${id}/${action}`, fields)).data(Change)
    }
    await clock({ entityType: 'change', goalKey: 'all', state: 'paused', dueAt: null })
    minutes(30)
    await act('submit', {})
    await clock({ state: 'running', dueAt: new Date(nowMs + 60 * 60_000).toISOString() })
    minutes(10)
    await act('hold', { reason: 'Waits for the vendor.' })
    await clock({ state: 'paused' })
    minutes(20)
    await act('resume', {})
    const { id: timerId } = await clock({ state: 'running' })
    await act('cancel', { reason: 'Not needed.' })
    await clock({ state: 'canceled', breached: false })
    const { intervals, elapsedMs } = (await api.get(`/itsm/sla-timers/${timerId}`)).data(ExplainedSlaTimer)
    expect(elapsedMs).toBe(10 * 60_000)
    expect(intervals.map(({ reason }) => reason)).toEqual(['draft', null, 'on_hold'])
  })
})

describe('reapplying an SLA policy', () => {
  it('changes a thousand clocks per request, reports the remaining ones, and skips locked ones', async () => {
    const api = service.as(testPrincipal())
    const policy = await createPolicy(api, { warnings: [] })
    const { id } = await open(api)
    const { id: timerId } = await clockOf(api, id)
    const far = new Date(nowMs + 3_600_000).toISOString()
    const copies = { from: 1, to: 1_049 }
    await copyEvents(service.sql, id, copies)
    await copyClocks(service.sql, timerId, copies, far)
    await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { medium: 120 } })
    const reapply = async (dryRun: boolean, headers?: Record<string, string>) =>
      (await api.post(`/itsm/sla-policies/${policy.id}/reapply`, { dryRun }, headers)).data(SlaReapplied)

    const tried = await reapply(true)
    expect(tried).toMatchObject({ open: 1_050, changed: 1_050, applied: 0, remaining: 1_050 })
    expect(tried.changes).toHaveLength(200)
    const key = { 'idempotency-key': 'reapply-once' }
    const first = await reapply(false, key)
    expect(first).toMatchObject({ changed: 1_050, applied: 1_000, remaining: 50 })
    expect(first.changes).toEqual(tried.changes)
    expect(await reapply(false, key)).toEqual(first)
    const [last] = await service.sql<{ id: string }[]>`
      select id from sla_timers where policy_id = ${policy.id} and state->>'policyRevision' = '1'
      order by id desc limit 1`
    await service.sql.begin(async (tx) => {
      await tx`select 1 from sla_timers where id = ${last?.id ?? ''} for update`
      expect(await reapply(false)).toMatchObject({ changed: 50, applied: 49, remaining: 1 })
    })
    expect(await reapply(false)).toMatchObject({ changed: 1, applied: 1, remaining: 0 })
    const [done] = await service.sql`
      select count(*)::int as clocks, min(state->>'goalMs') as least from sla_timers
      where policy_id = ${policy.id} and state->>'policyRevision' = '2'`
    expect(done).toEqual({ clocks: 1_050, least: String(120 * 60_000) })
    const [reported] = await service.sql`
      select count(*)::int as events, count(distinct stream_id)::int as clocks from events
      where type = 'sla.retargeted' and data->'after'->>'policyId' = ${policy.id}`
    expect(reported).toEqual({ events: 1_050, clocks: 1_050 })
  })
})
