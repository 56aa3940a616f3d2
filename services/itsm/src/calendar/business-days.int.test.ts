import { afterAll, beforeAll, expect, it } from '@jest/globals'
import {
  ExplainedSlaTimer,
  Incident,
  type NewSlaPolicy,
  SlaCalendar,
  SlaPolicy,
  SlaPreview,
  SlaReapplied,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { itsm } from '../service.js'

const dayMs = 86_400_000
/** A Friday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-06T15:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

async function officeHours(api: ApiClient) {
  const hours = [{ from: '09:00', to: '17:00' }]
  const week = { monday: hours, tuesday: hours, wednesday: hours, thursday: hours, friday: hours }
  return (await api.post('/itsm/calendars', { name: 'Office', timeZone: 'Europe/Berlin', week })).data(
    SlaCalendar,
  )
}
const save = async (api: ApiClient, fields: Partial<z.input<typeof NewSlaPolicy>>) =>
  (
    await api.post('/itsm/sla-policies', { name: 'Gold', metric: 'resolution', warnings: [], ...fields })
  ).data(SlaPolicy)
const clockOf = (api: ApiClient, entityId: string, having: object) =>
  waitFor(async () => {
    const [item] = (await api.get(`/itsm/sla-timers?entityId=${entityId}`)).page(SlaTimerItem).items
    expect(item).toMatchObject(having)
    const timer = (await api.get(`/itsm/sla-timers/${item?.id}`)).data(ExplainedSlaTimer)
    expect(timer).toMatchObject(having)
    return timer
  })

it('a one-business-day SLA clock is due on the next business day, pauses on hold and reports its breach', async () => {
  const api = service.as(testPrincipal())
  const { id: calendarId } = await officeHours(api)
  const days = { goalUnit: 'business_days' as const, goals: { medium: 1 }, calendarId }
  const policy = await save(api, days)
  expect(policy).toMatchObject(days)
  const { id, number } = (await api.post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident)
  const startedAt = nowMs
  // Friday 16:00 in Berlin: one of the eight working hours is left.
  const running = { goalUnit: 'business_days', goalMs: dayMs, dueAt: '2026-03-09T15:00:00.000Z' }
  await clockOf(api, id, running)

  nowMs += 30 * 60_000
  await api.patch(`/itsm/incidents/${id}`, { status: 'on_hold', holdReason: 'awaiting_vendor' })
  const held = await clockOf(api, id, { state: 'paused', dueAt: null })
  expect(held).toMatchObject({ elapsedMs: dayMs / 16, remainingMs: (dayMs * 15) / 16 })
  nowMs = Date.parse('2026-03-09T16:00:00.000Z')
  await api.patch(`/itsm/incidents/${id}`, { status: 'in_progress' })
  const dueAt = '2026-03-10T15:30:00.000Z'
  const resumed = await clockOf(api, id, { state: 'running', dueAt })
  expect(resumed.intervals.map(({ state, countedMs }) => [state, countedMs])).toEqual([
    ['running', dayMs / 16],
    ['paused', 0],
  ])

  const previewed = await api.post(`/itsm/sla-policies/${policy.id}/preview`, { entityId: number })
  expect(previewed.data(SlaPreview)).toMatchObject({ applies: true, clock: { goalMs: dayMs, dueAt } })
  nowMs = Date.parse('2026-03-10T16:00:00.000Z')
  const late = await clockOf(api, id, { breached: true, breachedAt: dueAt })
  expect(late.elapsedMs).toBe(late.intervals.reduce((sum, { countedMs }) => sum + countedMs, 0))
  expect(late.remainingMs).toBe(-dayMs / 16)

  const then = await api.get(`/itsm/sla-timers/${late.id}?asOf=${new Date(startedAt).toISOString()}`)
  expect(then.data(ExplainedSlaTimer)).toMatchObject({ ...running, elapsedMs: 0 })
})

it('reapplying a policy converted from minutes to business days retargets its running clocks', async () => {
  const api = service.as(testPrincipal())
  const { id: calendarId } = await officeHours(api)
  const policy = await save(api, { goals: { medium: 1_440 }, calendarId })
  expect(policy.goalUnit).toBe('minutes')
  nowMs = Date.parse('2026-03-16T09:00:00.000Z')
  const { id } = (await api.post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident)
  const inMinutes = { goalUnit: 'minutes', goalMs: dayMs, dueAt: '2026-03-19T09:00:00.000Z' } as const
  await clockOf(api, id, inMinutes)

  const path = `/itsm/sla-policies/${policy.id}`
  const refused = async (fields: object) =>
    (await api.patch(path, fields)).error().details?.map(({ path, code }) => [path, code])
  expect(await refused({ goalUnit: 'business_days' })).toEqual([['/goals', 'goals_needed']])
  const days = { goalUnit: 'business_days', goals: { medium: 1 } } as const
  expect(await refused({ ...days, calendarId: null })).toEqual([['/calendarId', 'calendar_needed']])
  expect(await refused({ ...days, goals: { medium: 262 } })).toEqual([
    ['/goals/medium', 'goal_beyond_a_year'],
  ])
  expect((await api.patch(path, days)).data(SlaPolicy)).toMatchObject({ ...days, revision: 2 })

  const answer = (await api.post(`${path}/reapply`, { dryRun: false })).data(SlaReapplied)
  const inDays = { goalUnit: 'business_days', goalMs: dayMs, dueAt: '2026-03-17T09:00:00.000Z' }
  expect(answer).toMatchObject({ applied: 1, changes: [{ before: inMinutes, after: inDays }] })
  await clockOf(api, id, { ...inDays, cycle: 2, policyRevision: 2 })
})
