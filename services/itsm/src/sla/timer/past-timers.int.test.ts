import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ExplainedSlaTimer,
  Incident,
  IncidentSla,
  type NewSlaPolicy,
  Problem,
  SlaCalendar,
  SlaPolicy,
  SlaReapplied,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { itsm } from '../../service.js'
import { listAllIds } from './list-ids.fixture.js'

/** A Monday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }
/** Moves the clock to `ms` milliseconds after an instant. */
const moveTo = (from: string, ms: number) => {
  nowMs = Date.parse(from) + ms
}
const minute = 60_000
const list = '/itsm/sla-timers'
const after = (from: string, ms: number) => new Date(Date.parse(from) + ms).toISOString()

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

async function createPolicy(api: ApiClient, policy: Partial<z.input<typeof NewSlaPolicy>> = {}) {
  const body = {
    name: 'Gold',
    metric: 'resolution',
    goalsBy: 'all',
    goals: { all: 60 },
    warnings: [],
    ...policy,
  }
  return (await api.post('/itsm/sla-policies', body)).data(SlaPolicy)
}
const open = async (api: ApiClient, fields: object = {}) =>
  (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)
const patch = async (api: ApiClient, id: string, fields: object) =>
  (await api.patch(`/itsm/incidents/${id}`, fields)).data(Incident)
const slaOf = async (api: ApiClient, id: string, asOf: string) =>
  (await api.get(`/itsm/incidents/${id}/sla?asOf=${asOf}`)).data(IncidentSla)
/** Waits until the only clock of an entity matches and returns it. */
const clockOf = (api: ApiClient, entityId: string, having: object = {}) =>
  waitFor(async () => {
    const { items } = (await api.get(`${list}?entityId=${entityId}`)).page(SlaTimerItem)
    expect(items).toMatchObject([having])
    return items[0] as SlaTimerItem
  })

/**
 * An incident paused after 10 minutes and 123 ms, resumed after 40
 * minutes, breached at 90 minutes (minus 123 ms) and resolved after 100.
 */
async function lived(fields: object = {}) {
  const principal = testPrincipal()
  const api = service.as(principal)
  await createPolicy(api)
  const { id, number, createdAt } = await open(api, fields)
  await clockOf(api, id, { state: 'running' })
  moveTo(createdAt, 10 * minute + 123)
  await patch(api, id, { status: 'on_hold', holdReason: 'awaiting_vendor' })
  await clockOf(api, id, { state: 'paused' })
  moveTo(createdAt, 40 * minute)
  await patch(api, id, { status: 'in_progress' })
  await clockOf(api, id, { state: 'running' })
  moveTo(createdAt, 95 * minute)
  await clockOf(api, id, { breached: true })
  moveTo(createdAt, 100 * minute)
  await api.post(`/itsm/incidents/${id}/resolve`)
  const { id: timerId } = await clockOf(api, id, { state: 'completed' })
  moveTo(createdAt, 200 * minute)
  return { principal, api, id, number, createdAt, timerId }
}

describe('an SLA clock as of an instant', () => {
  it('has the state and explanation of that instant, to the millisecond', async () => {
    const { api, id, createdAt, timerId } = await lived()
    const before = 10 * minute + 123
    const dueAt = after(createdAt, 90 * minute - 123)
    const due = { running: after(createdAt, 60 * minute), paused: null, resumed: dueAt }
    const probes: [number, number, object][] = [
      [0, 0, { state: 'running', dueAt: due.running, breached: false }],
      [1, 1, { state: 'running', dueAt: due.running, breached: false }],
      [before - 1, before - 1, { state: 'running', dueAt: due.running }],
      [before, before, { state: 'paused', dueAt: due.paused }],
      [39 * minute + 59_999, before, { state: 'paused', dueAt: due.paused }],
      [40 * minute, before, { state: 'running', dueAt: due.resumed }],
      [60 * minute + 7, before + 20 * minute + 7, { state: 'running', breached: false, breachedAt: null }],
      [95 * minute, before + 55 * minute, { state: 'running', breached: true, breachedAt: dueAt }],
      [100 * minute - 1, before + 60 * minute - 1, { state: 'running', breached: true }],
      [100 * minute, before + 60 * minute, { state: 'completed', breached: true }],
      [150 * minute, before + 60 * minute, { state: 'completed', breached: true }],
    ]
    for (const [ms, elapsedMs, having] of probes) {
      const at = after(createdAt, ms)
      const { asOf, timers } = await slaOf(api, id, at)
      const remainingMs = 60 * minute - elapsedMs
      expect([ms, asOf, timers]).toMatchObject([ms, at, [{ id: timerId, elapsedMs, remainingMs, ...having }]])
      expect((await api.get(`${list}/${timerId}?asOf=${at}`)).data(ExplainedSlaTimer)).toEqual(timers[0])
      const { intervals } = timers[0] as ExplainedSlaTimer
      expect(intervals.reduce((sum, { countedMs }) => sum + countedMs, 0)).toBe(elapsedMs)
      // There are no gaps: each interval begins where the previous one ends, up to the instant.
      const edges = intervals.flatMap(({ from, to }) => [from, to])
      const seams = intervals.slice(1).flatMap(({ from }) => [from, from])
      expect(edges).toEqual(ms === 0 ? [] : [createdAt, ...seams, at])
    }
  })

  it('does not exist before it started, nor for other tenants', async () => {
    const { api, principal, id, createdAt, timerId } = await lived()
    const early = after(createdAt, -1)
    expect((await api.get(`/itsm/incidents/${id}/sla?asOf=${early}`)).status).toBe(404)
    expect((await api.get(`${list}/${timerId}?asOf=${early}`)).status).toBe(404)
    expect((await api.get(`${list}/${timerId}?asOf=yesterday`)).status).toBe(422)
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      const elsewhere = service.as(other)
      expect((await elsewhere.get(`/itsm/incidents/${id}/sla?asOf=${clock.now()}`)).status).toBe(404)
      expect((await elsewhere.get(`${list}/${timerId}?asOf=${createdAt}`)).status).toBe(404)
      expect(await listAllIds(elsewhere, list, `asOf=${createdAt}`)).toEqual([])
      expect(await listAllIds(elsewhere, list, 'q=gold&state=completed,running')).toEqual([])
    }
  })

  it('in the future counts only up to now', async () => {
    const api = service.as(testPrincipal())
    await createPolicy(api)
    const { id, number, createdAt } = await open(api)
    const { id: timerId } = await clockOf(api, id)
    moveTo(createdAt, 5 * minute)
    const { asOf, timers } = await slaOf(api, number, '2120-01-01T00:00:00Z')
    expect([asOf, timers]).toMatchObject([clock.now(), [{ elapsedMs: 5 * minute, breached: false }]])
    const ahead = await api.get(`${list}/${timerId}?asOf=2120-01-01T00:00:00Z`)
    expect(ahead.data(ExplainedSlaTimer)).toEqual(timers[0])
  })

  it('that started late does not exist before, and counts from the creation of its entity', async () => {
    const api = service.as(testPrincipal())
    await createPolicy(api, { conditions: { category: 'vip' } })
    const { id, createdAt } = await open(api)
    moveTo(createdAt, 10 * minute)
    await patch(api, id, { category: 'vip' })
    const { id: timerId } = await clockOf(api, id)
    const early = after(createdAt, 10 * minute - 1)
    expect(await slaOf(api, id, early)).toEqual({ asOf: early, timers: [] })
    expect((await api.get(`${list}/${timerId}?asOf=${early}`)).status).toBe(404)
    expect(await listAllIds(api, list, `asOf=${early}`)).toEqual([])
    expect(await slaOf(api, id, clock.now())).toMatchObject({ timers: [{ elapsedMs: 10 * minute }] })
    expect(await listAllIds(api, list, `asOf=${clock.now()}`)).toEqual([timerId])
  })

  it('uses the policy and calendar revisions of that instant', async () => {
    const api = service.as(testPrincipal())
    nowMs = Date.parse('2026-03-09T09:00:00.000Z')
    const week = (from: string) => ({ monday: [{ from, to: '17:00' }] })
    const body = { name: 'Office', timeZone: 'Etc/UTC', week: week('09:15') }
    const calendar = (await api.post('/itsm/calendars', body)).data(SlaCalendar)
    const policy = await createPolicy(api, { calendarId: calendar.id, goals: { all: 120 } })
    const { id, createdAt } = await open(api)
    await clockOf(api, id, { calendarRevision: 1 })
    moveTo(createdAt, 60 * minute)
    await api.patch(`/itsm/calendars/${calendar.id}`, { week: week('09:30') })
    await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { all: 90 } })
    const reapplied = await api.post(`/itsm/sla-policies/${policy.id}/reapply`, { dryRun: false })
    expect(reapplied.data(SlaReapplied)).toMatchObject({ applied: 1 })
    const { timers } = await slaOf(api, id, after(clock.now(), -1))
    expect(timers).toMatchObject([
      { policyRevision: 1, calendarRevision: 1, goalMs: 120 * minute, elapsedMs: 45 * minute - 1 },
    ])
    const counted = timers[0]?.intervals.map(({ state, countedMs }) => [state, countedMs])
    expect(counted).toEqual([
      ['closed', 0],
      ['running', 45 * minute - 1],
    ])
    expect(await slaOf(api, id, clock.now())).toMatchObject({
      timers: [{ policyRevision: 2, calendarRevision: 2, goalMs: 90 * minute, elapsedMs: 30 * minute }],
    })
  })
})

describe('the list of SLA clocks', () => {
  async function several() {
    const api = service.as(testPrincipal())
    const [gold, silver, plain] = [
      await createPolicy(api, { name: 'Gold resolution', conditions: { category: 'vip' } }),
      await createPolicy(api, { name: 'Silver answer', metric: 'response', goals: { all: 30 } }),
      await createPolicy(api, { name: 'Gold for problems', entityType: 'problem', goals: { all: 600 } }),
    ]
    const begun = (count: number) => waitFor(async () => (await listAllIds(api, list)).length === count)
    const first = await open(api, { category: 'vip' })
    await begun(2)
    moveTo(first.createdAt, minute)
    const second = await open(api)
    await begun(3)
    moveTo(first.createdAt, 2 * minute)
    const problem = (await api.post('/itsm/problems', { title: 'Connections leak' })).data(Problem)
    const ids = await waitFor(async () => {
      const { items } = (await api.get(`${list}?sort=createdAt`)).page(SlaTimerItem)
      const one = (entityId: string, policy: SlaPolicy) =>
        items.find((item) => item.entityId === entityId && item.policyId === policy.id)?.id ?? ''
      const found = {
        resolve: one(first.id, gold),
        answer: one(first.id, silver),
        second: one(second.id, silver),
        problem: one(problem.id, plain),
      }
      expect(Object.values(found)).not.toContain('')
      return found
    })
    const started = clock.now()
    moveTo(first.createdAt, 3 * minute)
    await patch(api, first.id, { status: 'on_hold', holdReason: 'awaiting_vendor' })
    await waitFor(async () => (await listAllIds(api, list, 'state=paused')).length === 1)
    await waitFor(async () => (await listAllIds(api, list, 'state=completed')).length === 1)
    moveTo(first.createdAt, 4 * minute)
    return { api, first, second, problem, ids, started }
  }
  const sorted = (ids: string[]) => ids.toSorted()

  it('filters by words, entity type, state, metric and time', async () => {
    const { api, first, second, problem, ids } = await several()
    const all = Object.values(ids)
    const expected: [string, string[]][] = [
      ['', all],
      ['q=gold', [ids.resolve, ids.problem]],
      ['q=gol', [ids.resolve, ids.problem]],
      ['q=gold+-problems', [ids.resolve]],
      [`q=${first.number}`, [ids.resolve, ids.answer]],
      [`q=${first.number}+silver`, [ids.answer]],
      [`q=${problem.number}&state=running,completed`, [ids.problem]],
      ['q=nothing', []],
      ['state=running', [ids.second, ids.problem]],
      ['state=paused,completed', [ids.resolve, ids.answer]],
      ['state=paused&state=running&metric=resolution', [ids.resolve, ids.problem]],
      ['metric=response', [ids.answer, ids.second]],
      ['entityType=problem', [ids.problem]],
      ['entityType=problem,incident', all],
      ['entityType=problem,change&q=gold', [ids.problem]],
      [`createdAfter=${first.createdAt}`, [ids.second, ids.problem]],
      [`createdAfter=${first.createdAt}&createdBefore=${problem.createdAt}`, [ids.second]],
      [`dueBefore=${after(second.createdAt, 30 * minute + 1)}`, [ids.answer, ids.second]],
      [`dueBefore=${after(second.createdAt, 30 * minute + 1)}&state=running,paused`, [ids.second]],
    ]
    for (const [query, found] of expected)
      for (const sort of ['', 'sort=createdAt', 'sort=dueAt', 'sort=-dueAt'])
        expect([query, sort, sorted(await listAllIds(api, list, `${query}&${sort}`))]).toEqual([
          query,
          sort,
          sorted(found),
        ])
    for (const query of ['state=running,paused,completed', 'q=silver+or+gold', '']) {
      const byDue = [ids.answer, ids.second, ids.problem, ids.resolve]
      expect([query, await listAllIds(api, list, `${query}&sort=dueAt`)]).toEqual([query, byDue])
      expect([query, await listAllIds(api, list, `${query}&sort=-dueAt`)]).toEqual([
        query,
        byDue.toReversed(),
      ])
      const newest = await listAllIds(api, list, query)
      expect([query, newest.slice(0, 2)]).toEqual([query, [ids.problem, ids.second]])
      expect([query, await listAllIds(api, list, `${query}&sort=createdAt`)]).toEqual([
        query,
        newest.toReversed(),
      ])
    }
    for (const query of ['state=late', 'metric=speed', 'entityType=server', 'q='])
      expect([query, (await api.get(`${list}?${query}`)).status]).toEqual([query, 422])
  })

  it('is readable as of a past instant, with the filters applied to the state then', async () => {
    const { api, first, second, ids, started } = await several()
    const all = Object.values(ids)
    const asOf = `asOf=${started}`
    const expected: [string, string[]][] = [
      [asOf, all],
      [`${asOf}&state=running`, all],
      [`${asOf}&state=paused,completed`, []],
      [`${asOf}&q=gold&metric=resolution&entityType=incident,problem`, [ids.resolve, ids.problem]],
      [`${asOf}&q=${first.number}`, [ids.resolve, ids.answer]],
      [`${asOf}&entityId=${first.id}&metric=response`, [ids.answer]],
      [`${asOf}&dueBefore=${after(first.createdAt, 60 * minute + 1)}`, [ids.resolve, ids.answer, ids.second]],
      [`${asOf}&createdAfter=${first.createdAt}&entityType=incident`, [ids.second]],
      [`asOf=${clock.now()}&state=paused,completed`, [ids.resolve, ids.answer]],
      ['asOf=2120-01-01T00:00:00Z&state=running', [ids.second, ids.problem]],
      [`asOf=${second.createdAt}`, [ids.resolve, ids.answer, ids.second]],
      [`asOf=${after(first.createdAt, -1)}`, []],
    ]
    for (const [query, found] of expected) {
      const newest = await listAllIds(api, list, query)
      expect([query, sorted(newest)]).toEqual([query, sorted(found)])
      expect([query, await listAllIds(api, list, `${query}&sort=createdAt`)]).toEqual([
        query,
        newest.toReversed(),
      ])
    }
    const { items } = (await api.get(`${list}?${asOf}&entityId=${first.id}`)).page(SlaTimerItem)
    expect(items).toMatchObject([
      { state: 'running', version: 1 },
      { state: 'running', version: 1 },
    ])
    expect((await api.get(`${list}?${asOf}&sort=dueAt`)).error().details?.[0]?.code).toBe('not_with_as_of')
  })
})
