import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Incident,
  type IncidentPatch,
  IncidentSla,
  type NewSlaPolicy,
  SlaCalendar,
  SlaPolicy,
  SlaReapplied,
} from '@opsplane/contracts'
import {
  type ApiClient,
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import type { z } from 'zod'
import { itsm } from '../service.js'

/** A Monday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }
const minutes = (count: number) => {
  nowMs += count * 60_000
}

let service: TestService
let recorder: EventRecorder
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

/** A separate workspace with one policy: a goal of one hour for every incident, unless overridden. */
async function workspace(policy: Partial<z.input<typeof NewSlaPolicy>> = {}) {
  const api = service.as(testPrincipal())
  const created = await createPolicy(api, policy)
  const open = async (fields: object = {}) =>
    (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)
  const patch = async (id: string, fields: IncidentPatch) =>
    (await api.patch(`/itsm/incidents/${id}`, fields)).data(Incident)
  const clocks = async (id: string) => (await api.get(`/itsm/incidents/${id}/sla`)).data(IncidentSla).timers
  /** Waits until the incident's only clock matches and returns it. */
  const clockOf = (id: string, having: object = {}) =>
    waitFor(async () => {
      const [timer] = await clocks(id)
      expect(timer).toMatchObject(having)
      return timer
    })
  return { api, policy: created, open, patch, clocks, clockOf }
}

async function createPolicy(api: ApiClient, policy: Partial<z.input<typeof NewSlaPolicy>>) {
  const goals = { critical: 15, high: 30, medium: 60, low: 60 }
  const body = { name: 'Gold', metric: 'resolution', goals, ...policy }
  return (await api.post('/itsm/sla-policies', body)).data(SlaPolicy)
}

const inItsName = 'incident.sla_breached'
/**
 * Published events of the incident's clocks, then those of the
 * incident itself: only events of one aggregate are ordered.
 */
const reported = (incidentId: string) =>
  recorder.published
    .map(({ event }) => event)
    .toSorted((left, right) => Number(left.type === inItsName) - Number(right.type === inItsName))
    .filter(({ type, data, resource }) =>
      type === inItsName ? resource.id === incidentId : data.after?.entityId === incidentId,
    )
const typesOf = (incidentId: string) => reported(incidentId).map(({ type }) => type)

describe('an SLA clock', () => {
  it('warns in order and breaches once, also with an event of the incident', async () => {
    const { open, clockOf, policy } = await workspace()
    const { id, number } = await open()
    const { dueAt } = await clockOf(id, { state: 'running', breached: false })
    const startedAt = nowMs
    expect(dueAt).toBe(new Date(startedAt + 3_600_000).toISOString())
    minutes(180)
    await clockOf(id, { breached: true, breachedAt: dueAt, nextFireAt: null, remainingMs: -7_200_000 })
    await waitFor(() => typesOf(id).length === 6)
    expect(typesOf(id)).toEqual([
      'sla.started',
      'sla.warning',
      'sla.warning',
      'sla.warning',
      'sla.breached',
      'incident.sla_breached',
    ])
    const percents = reported(id).flatMap(({ data }) => (data.percent === undefined ? [] : [data.percent]))
    expect(percents).toEqual([50, 75, 90])
    const [own, incidents] = reported(id).slice(-2)
    const breach = {
      metric: 'resolution',
      dueAt,
      breachedAt: dueAt,
      detectedAt: clock.now(),
      policyId: policy.id,
    }
    expect(own?.data).toMatchObject({ entityType: 'incident', entityId: id, ...breach })
    expect(incidents).toMatchObject({ resource: { type: 'incident', id, number }, data: breach })
    expect(incidents?.data).toMatchObject({ before: { id }, after: { id }, changes: [] })
  })

  it('pauses on hold for the caller, and is readable with its explanation', async () => {
    const { api, open, patch, clockOf } = await workspace()
    const { id } = await open()
    minutes(10)
    await patch(id, { status: 'on_hold', holdReason: 'awaiting_caller', comment: 'Which browser is it?' })
    await clockOf(id, { state: 'paused', dueAt: null, elapsedMs: 600_000 })
    minutes(500)
    await patch(id, { status: 'in_progress' })
    await clockOf(id, { state: 'running', elapsedMs: 600_000 })
    minutes(20)
    const timer = await clockOf(id, { elapsedMs: 1_800_000, remainingMs: 1_800_000 })
    expect(timer.intervals.map(({ state, countedMs, reason }) => [state, countedMs, reason])).toEqual([
      ['running', 600_000, null],
      ['paused', 0, 'awaiting_caller'],
      ['running', 1_200_000, null],
    ])
    expect(timer.dueAt).toBe(new Date(nowMs + 1_800_000).toISOString())
    await api.post(`/itsm/incidents/${id}/resolve`)
    await clockOf(id, { state: 'completed', breached: false })
    await waitFor(() => typesOf(id).includes('sla.met'))
    expect(typesOf(id)).toEqual(['sla.started', 'sla.paused', 'sla.resumed', 'sla.met'])
    const [, paused] = reported(id)
    expect(paused?.causationId).toBe(timer.intervals[1]?.eventId)
  })

  it('is retargeted by a new severity, counted from creation, and resumes when reopened', async () => {
    const { api, open, patch, clockOf } = await workspace({ warnings: [] })
    const { id, createdAt } = await open({ severity: 'medium' })
    await clockOf(id, { goalMs: 3_600_000 })
    minutes(10)
    await patch(id, { severity: 'critical' })
    const due = new Date(Date.parse(createdAt) + 900_000).toISOString()
    await clockOf(id, { goalMs: 900_000, cycle: 2, dueAt: due })
    await api.post(`/itsm/incidents/${id}/resolve`)
    minutes(60)
    await api.post(`/itsm/incidents/${id}/reopen`)
    await clockOf(id, { state: 'running', elapsedMs: 600_000, breached: false })
    minutes(6)
    await clockOf(id, { breached: true, elapsedMs: 960_000 })
    await api.post(`/itsm/incidents/${id}/resolve`)
    // The two events belong to different aggregates, so either may be published first.
    await waitFor(() => ['sla.missed', inItsName].every((type) => typesOf(id).includes(type)))
    expect(typesOf(id)).toEqual([
      'sla.started',
      'sla.retargeted',
      'sla.met',
      'sla.resumed',
      'sla.breached',
      'sla.missed',
      'incident.sla_breached',
    ])
  })

  it('for the response ends with a public answer by anyone but the caller', async () => {
    const { api, open, clockOf } = await workspace({ metric: 'response' })
    const { id } = await open({ callerId: 'usr_caller' })
    minutes(5)
    await api.post(`/itsm/incidents/${id}/comments`, { body: 'Internal.', visibility: 'internal' })
    await api.post(`/itsm/incidents/${id}/comments`, { body: 'We are looking.' })
    await clockOf(id, { state: 'completed', elapsedMs: 300_000 })
  })

  it('runs only for incidents that match the conditions, and counts from their creation', async () => {
    const { open, patch, clocks, clockOf } = await workspace({ conditions: { category: 'vip' } })
    const { id } = await open()
    const other = await open({ category: 'vip' })
    await clockOf(other.id, { state: 'running' })
    expect(await clocks(id)).toEqual([])
    minutes(10)
    await patch(id, { category: 'vip' })
    await clockOf(id, { state: 'running', elapsedMs: 600_000 })
    await patch(id, { category: 'office' })
    await clockOf(id, { state: 'canceled' })
  })

  it('counts only open hours', async () => {
    const { api } = await workspace({ status: 'inactive' })
    const nine = [{ from: '09:00', to: '17:00' }]
    const week = { monday: nine, tuesday: nine, wednesday: nine, thursday: nine, friday: nine }
    const calendar = (
      await api.post('/itsm/calendars', { name: 'Office', timeZone: 'Asia/Kolkata', week })
    ).data(SlaCalendar)
    await createPolicy(api, { calendarId: calendar.id, goals: { medium: 960 } })
    const { id } = (await api.post('/itsm/incidents', { title: 'Printer is out' })).data(Incident)
    minutes(2 * 24 * 60)
    const timer = await waitFor(async () => {
      const { timers } = (await api.get(`/itsm/incidents/${id}/sla`)).data(IncidentSla)
      return timers[0]
    })
    const counted = timer.intervals.reduce((sum, interval) => sum + interval.countedMs, 0)
    expect(counted).toBe(timer.elapsedMs)
    expect(new Set(timer.intervals.map(({ state }) => state))).toEqual(new Set(['running', 'closed']))
    expect((await api.send('DELETE', `/itsm/calendars/${calendar.id}`)).status).toBe(409)
  })
})

describe('an SLA policy', () => {
  it('does not change running clocks until it is reapplied', async () => {
    const { api, policy, open, clockOf } = await workspace({ warnings: [50] })
    const { id } = await open()
    await clockOf(id, { policyRevision: 1 })
    const patched = await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { medium: 120 } })
    expect(patched.data(SlaPolicy)).toMatchObject({ revision: 2 })
    const later = await open()
    await clockOf(later.id, { policyRevision: 2, goalMs: 7_200_000 })
    await clockOf(id, { policyRevision: 1, goalMs: 3_600_000 })
    const reapply = async (dryRun: boolean) =>
      (await api.post(`/itsm/sla-policies/${policy.id}/reapply`, { dryRun })).data(SlaReapplied)
    const tried = await reapply(true)
    expect(tried).toMatchObject({ dryRun: true, open: 2, changed: 1, applied: 0 })
    expect(tried.changes).toMatchObject([
      { entityId: id, before: { goalMs: 3_600_000 }, after: { goalMs: 7_200_000, policyRevision: 2 } },
    ])
    await clockOf(id, { policyRevision: 1 })
    expect(await reapply(false)).toMatchObject({ changed: 1, applied: 1, changes: tried.changes })
    await clockOf(id, { policyRevision: 2, goalMs: 7_200_000, cycle: 2 })
    expect(await reapply(false)).toMatchObject({ changed: 0, applied: 0, changes: [] })
  })

  it('is rejected if it or its calendar is inconsistent', async () => {
    const { api } = await workspace()
    const refused = async (path: string, body: object) => {
      const { code, details } = (await api.post(path, body)).error()
      return [code, details?.[0]?.code]
    }
    const policy = { name: 'Gold', metric: 'response', goals: { high: 60 } }
    const calendar = { name: 'Office', timeZone: 'Europe/Berlin', week: {} }
    const monday = (from: string, to: string) => ({ from, to })
    const cases: [string, object, string][] = [
      ['/itsm/sla-policies', { ...policy, goals: {} }, 'no_goal'],
      ['/itsm/sla-policies', { ...policy, goals: { high: 600_000 } }, 'goal_beyond_a_year'],
      ['/itsm/sla-policies', { ...policy, calendarId: `cal_${'0'.repeat(26)}` }, 'not_found'],
      ['/itsm/sla-policies', { ...policy, pauseReasons: ['lunch'] }, 'invalid_value'],
      ['/itsm/calendars', calendar, 'never_open'],
      ['/itsm/calendars', { ...calendar, timeZone: 'Mars/Olympus' }, 'unknown_zone'],
      ['/itsm/calendars', { ...calendar, week: { monday: [monday('17:00', '09:00')] } }, 'empty_hours'],
      [
        '/itsm/calendars',
        { ...calendar, week: { monday: [monday('09:00', '12:00'), monday('11:00', '24:00')] } },
        'overlapping_hours',
      ],
      [
        '/itsm/calendars',
        { ...calendar, week: { monday: [{ ...monday('09:00', '12:00'), until: '13:00' }] } },
        'unrecognized_key',
      ],
    ]
    for (const [path, body, code] of cases)
      expect(await refused(path, body)).toEqual(['validation_failed', code])
  })

  it('cannot have a goal its calendar does not reach within a year, even after the calendar is edited', async () => {
    const { api } = await workspace({ status: 'inactive' })
    const hours = [{ from: '09:00', to: '17:00' }]
    const calendar = { name: 'Office', timeZone: 'Asia/Kathmandu', week: { monday: hours, friday: hours } }
    const { id } = (await api.post('/itsm/calendars', calendar)).data(SlaCalendar)
    await createPolicy(api, { name: 'Gold', calendarId: id, goals: { high: 40_000 } })
    const mondays = { week: { monday: hours } }
    const { details } = (await api.patch(`/itsm/calendars/${id}`, mondays)).error()
    expect(details).toMatchObject([{ path: '/week', code: 'goal_beyond_a_year' }])
    expect(details?.[0]?.message).toContain('the policy Gold has a goal of 40000 (high)')
    const { items } = (await api.get('/itsm/sla-policies')).page(SlaPolicy)
    for (const { id: policyId } of items)
      await api.patch(`/itsm/sla-policies/${policyId}`, { status: 'inactive' })
    expect((await api.patch(`/itsm/calendars/${id}`, mondays)).data(SlaCalendar)).toMatchObject(mondays)
  })

  it('requires sla:write to change, and belongs to one workspace', async () => {
    const { api, policy, open, clockOf } = await workspace()
    const agent = service.as(testPrincipal({ permissions: ['itsm:read', 'itsm:write'] }))
    const body = { name: 'Gold', metric: 'response', goals: { high: 60 } }
    expect((await agent.post('/itsm/sla-policies', body)).status).toBe(403)
    expect((await agent.get(`/itsm/sla-policies/${policy.id}`)).status).toBe(404)
    const { id } = await open()
    await clockOf(id)
    expect((await agent.get(`/itsm/incidents/${id}/sla`)).status).toBe(404)
    expect((await api.send('DELETE', `/itsm/sla-policies/${policy.id}`)).status).toBe(204)
    await clockOf(id, { state: 'running' })
  })
})

it('restores identical SLA clocks when they are rebuilt from the log', async () => {
  const rows = () => service.sql`select id, version, state from sla_timers order by id`
  // Wait until everything made due by earlier tests is reported: rows must not change during the comparison.
  const due = new Date(nowMs - 2_000).toISOString()
  await waitFor(async () => {
    const [left] = await service.sql`select count(*)::int from sla_timers where next_fire_at <= ${due}`
    return left?.count === 0
  })
  const before = await rows()
  expect(before.length).toBeGreaterThan(5)
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
