import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Kpi,
  KpiBackfillStarted,
  KpiPoint,
  type NewKpi,
  newId,
  type Permission,
  permissions,
  RightsQuestion,
} from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { incidentEvent, incidentState, publish, waitForFacts } from '../fact/facts.fixture.js'
import { type LogServer, startLogServer } from '../fact/log-server.fixture.js'
import { analytics } from '../service.js'

const ada = testPrincipal()
const workspaceId = ada.workspaceId ?? ''
let others: LogServer
let service: TestService
let api: ApiClient
/** Permissions of Ada; `null`: she is no longer a member. */
let held: readonly Permission[] | null = permissions
let grants = 0
const revoked: string[] = []

/** Number of incidents opened on each day, by the clock of Berlin. */
const perDay = {
  '2026-03-26': 1,
  '2026-03-27': 3,
  '2026-03-28': 0,
  '2026-03-29': 4,
  '2026-03-30': 4,
  '2026-03-31': 6,
}
/** The last incident of a day is opened half an hour before local midnight; the 29th has 23 hours. */
const opened = Object.entries(perDay).flatMap(([day, count]) => {
  const summer = day >= '2026-03-29'
  const last = `${day}T${summer ? '21' : '22'}:30:00.000Z`
  return Array.from({ length: count }, (_, at) =>
    incidentState({ createdAt: at === 0 ? last : `${day}T1${at}:00:00.000Z` }),
  )
})

beforeAll(async () => {
  others = await startLogServer()
  others.answer = ({ path, body }) => {
    if (path === '/internal/grants') return { grant: `grant-${++grants}`, expiresAt: null }
    if (path === '/internal/grants/revoke') {
      revoked.push((body as { grant: string }).grant)
      return {}
    }
    if (path === '/internal/delegations') return { token: 'token-1' }
    if (path !== '/internal/rights') return undefined
    const { userIds } = RightsQuestion.parse(body)
    return { permissions: held ? Object.fromEntries(userIds.map((id) => [id, held])) : {} }
  }
  const { url } = others
  service = await startTestService(analytics, {
    env: { SERVICE_URLS: JSON.stringify({ itsm: url, settings: url, 'database-studio': url }) },
  })
  api = service.as(ada)
  await publish(
    service.natsPrefix,
    opened.map((state) => incidentEvent(workspaceId, state)),
  )
  await waitForFacts(service, 'fact_incidents', workspaceId, opened.length)
})
afterAll(async () => {
  await service?.stop()
  await others?.stop()
})

const until = <T>(check: () => Promise<T | false | undefined>, message: string) => waitFor(check, { message })
/** Simulates downtime since `at`: missed measurements are caught up, time by time. */
const measureFrom = async (id: string, at: string) => {
  await until(async () => {
    const planned =
      await service.sql`update schedules set planned_at = ${at} where owner_id = ${id} returning 1`
    return planned.length > 0
  }, 'the schedule to be there')
}
const create = async (fields: Partial<z.input<typeof NewKpi>> = {}, client = api) =>
  (await client.post('/analytics/kpis', { ...daily, ...fields })).data(Kpi)
const daily = {
  name: 'New incidents',
  source: { measure: { dataset: 'incidents', measure: 'incidents' } },
  direction: 'down',
  period: { last: 'day' },
  timeZone: 'Europe/Berlin',
  schedule: {
    ...{ cron: '1 0 * * *', timeZone: 'Europe/Berlin', misfire: 'all', overlap: 'queue' },
    endAt: '2026-04-01T12:00:00.000Z',
  },
  targets: [
    { from: '2026-01-01', value: 2, warning: 3 },
    { from: '2026-03-31', value: 10 },
  ],
} as const
const shown = async (id: string) => (await api.get(`/analytics/kpis/${id}`)).data(Kpi)
const history = async (id: string, query = 'sort=at&limit=200') =>
  (await api.get(`/analytics/kpis/${id}/history?${query}`)).page(KpiPoint).items
const hasPoints = (id: string, count: number) =>
  until(async () => {
    const points = await history(id)
    return points.length >= count && points
  }, `${count} values`)
const crossings = (id: string) =>
  service.sql<{ before: string; after: string; at: string }[]>`
    select data->>'previousStatus' as before, data->'point'->>'status' as after, data->'point'->>'at' as at
    from events where type = 'kpi.threshold_crossed' and stream_id = ${id} order by version`

describe('a KPI', () => {
  let one: Kpi
  let live: KpiPoint[]

  it('is measured daily across a daylight saving change, with the target of each date', async () => {
    one = await create()
    await measureFrom(one.id, '2026-03-27T23:01:00.000Z')
    live = await hasPoints(one.id, 5)
    expect(live.some(({ backfilled }) => backfilled)).toBe(false)
    expect(
      live.map(({ at, from, to, value, target, status }) => [at, from, to, value, target, status]),
    ).toEqual([
      [...spanOf('27T23:01', '26T23:00', '27T23:00'), 3, 2, 'at_risk'],
      [...spanOf('28T23:01', '27T23:00', '28T23:00'), 0, 2, 'on_target'],
      [...spanOf('29T22:01', '28T23:00', '29T22:00'), 4, 2, 'off_target'],
      [...spanOf('30T22:01', '29T22:00', '30T22:00'), 4, 2, 'off_target'],
      [...spanOf('31T22:01', '30T22:00', '31T22:00'), 6, 10, 'on_target'],
    ])
  })
  const spanOf = (...times: string[]) => times.map((time) => `2026-03-${time}:00.000Z`)

  it('shows its latest value and its trend', async () => {
    const { standing } = await shown(one.id)
    expect(standing).toMatchObject({
      latest: live.at(-1),
      trend: { change: 2, ratio: 0.5, direction: 'worse' },
      error: null,
    })
    const listed = (await api.get('/analytics/kpis')).page(Kpi).items
    expect(listed.find(({ id }) => id === one.id)?.standing).toEqual(standing)
  })

  it('emits one event for each threshold crossing', async () => {
    expect([...(await crossings(one.id))]).toEqual([
      { before: 'no_data', after: 'at_risk', at: live[0]?.at },
      { before: 'at_risk', after: 'on_target', at: live[1]?.at },
      { before: 'on_target', after: 'off_target', at: live[2]?.at },
      { before: 'off_target', after: 'on_target', at: live[4]?.at },
    ])
  })

  it('has the same values from a backfill, without threshold events', async () => {
    const late = await create({ name: 'The same, later' })
    const body = { from: '2026-03-27T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' }
    const started = (await api.post(`/analytics/kpis/${late.id}/backfill`, body)).data(KpiBackfillStarted)
    expect(started.times).toBe(5)
    const points = await hasPoints(late.id, 5)
    const comparable = (all: KpiPoint[]) => all.map(({ measuredAt: _, backfilled: __, ...point }) => point)
    expect(comparable(points)).toEqual(comparable(live))
    expect(points.every(({ backfilled }) => backfilled)).toBe(true)
    expect(await crossings(late.id)).toHaveLength(0)
    const again = (await api.post(`/analytics/kpis/${late.id}/backfill`, body)).data(KpiBackfillStarted)
    expect(again.times).toBe(0)
  })

  it('compares the first live value with the last backfilled one to detect a crossing', async () => {
    const known = await create({ name: 'Known from the past' })
    const body = { from: '2026-03-27T00:00:00.000Z', to: '2026-03-29T00:00:00.000Z' }
    await api.post(`/analytics/kpis/${known.id}/backfill`, body)
    await hasPoints(known.id, 2)
    await measureFrom(known.id, '2026-03-29T22:01:00.000Z')
    const points = await hasPoints(known.id, 5)
    expect([...(await crossings(known.id))]).toEqual([
      { before: 'on_target', after: 'off_target', at: points[2]?.at },
      { before: 'off_target', after: 'on_target', at: points[4]?.at },
    ])
  })

  it('keeps past values when its targets and time zone change, and uses the new ones from then on', async () => {
    const before = await history(one.id)
    const schedule = { ...daily.schedule, timeZone: 'America/New_York', endAt: '2026-04-02T12:00:00.000Z' }
    const patch = { timeZone: 'America/New_York', targets: [{ from: '2026-01-01', value: 100 }], schedule }
    expect((await api.patch(`/analytics/kpis/${one.id}`, patch)).status).toBe(200)
    expect(revoked).toContain('grant-1')
    await until(async () => {
      const [row] =
        await service.sql`select spec->>'timeZone' as zone from schedules where owner_id = ${one.id}`
      return row?.zone === 'America/New_York'
    }, 'the other schedule')
    await measureFrom(one.id, '2026-04-02T04:01:00.000Z')
    const after = await hasPoints(one.id, before.length + 1)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.at(-1)).toMatchObject({
      ...{ at: '2026-04-02T04:01:00.000Z', timeZone: 'America/New_York', target: 100 },
      ...{ from: '2026-04-01T04:00:00.000Z', to: '2026-04-02T04:00:00.000Z', value: 0 },
    })
  })

  it('is measured again for past dates by a backfill with `replace`', async () => {
    const body = { from: '2026-03-30T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z', replace: true }
    const started = (await api.post(`/analytics/kpis/${one.id}/backfill`, body)).data(KpiBackfillStarted)
    const remeasured = await until(async () => {
      const points = await history(one.id, 'sort=at&from=2026-03-30T00:00:00Z&to=2026-04-01T00:00:00Z')
      const ofNewYork = points.filter(({ timeZone }) => timeZone === 'America/New_York')
      return ofNewYork.length === started.times && ofNewYork
    }, 'the days as New York has them')
    expect(remeasured).toMatchObject([
      { from: '2026-03-29T04:00:00.000Z', target: 100, backfilled: true },
      { from: '2026-03-30T04:00:00.000Z', target: 100, backfilled: true },
    ])
    // A day begins at midnight in New York, or in the zone of the request.
    const days = { from: '2026-03-30', to: '2026-03-30T03:00:00Z' }
    const path = `/analytics/kpis/${one.id}/backfill`
    expect((await api.post(path, days)).error().details).toMatchObject([{ path: '/to' }])
    const inUtc = (await api.post(path, { ...days, timeZone: 'UTC' })).data(KpiBackfillStarted)
    expect(inUtc.times).toBe(0)
  })

  it('returns all its history page by page, newest first', async () => {
    const all = await history(one.id)
    const paged: KpiPoint[] = []
    let after = ''
    do {
      const { items, pagination } = (await api.get(`/analytics/kpis/${one.id}/history?limit=3${after}`)).page(
        KpiPoint,
      )
      paged.push(...items)
      after = pagination.nextCursor === null ? '' : `&after=${pagination.nextCursor}`
    } while (after !== '')
    expect(paged).toEqual(all.toReversed())
  })

  it('is suspended once its owner lacks the rights, until a person who has them takes it over', async () => {
    held = permissions.filter((permission) => permission !== 'itsm:read' && permission !== 'audit:read')
    const count = (await history(one.id)).length
    await service.sql`delete from schedule_fires`
    await measureFrom(one.id, '2026-04-02T04:01:00.000Z')
    const error = await until(async () => (await shown(one.id)).standing.error ?? undefined, 'the reason')
    expect(error).toContain('itsm:read')
    expect(await history(one.id)).toHaveLength(count)
    const scheduled = async () =>
      (await service.sql`select 1 from schedules where owner_id = ${one.id}`).length === 1
    await until(async () => !(await scheduled()), 'the schedule to end')
    expect((await shown(one.id)).suspendedFor).toEqual(['itsm:read'])
    const person = (more: Permission[]) => ({
      ...testPrincipal({ permissions: ['analytics:read', 'analytics:write', ...more] }),
      ...{ workspaceId, userId: newId('user') },
    })
    const refused = await service.as(person([])).post(`/analytics/kpis/${one.id}/take-over`)
    expect(refused.error()).toMatchObject({
      code: 'insufficient_scope',
      details: [{ code: 'permission_not_held', params: { missing: ['itsm:read'] } }],
    })
    const able = person(['itsm:read'])
    const taken = (await service.as(able).post(`/analytics/kpis/${one.id}/take-over`)).data(Kpi)
    expect(taken).toMatchObject({ suspendedFor: [], ownerId: able.userId })
    held = permissions
    await until(scheduled, 'the schedule to go on')
  })

  it('is measured immediately after creation, on the default schedule of its period', async () => {
    const { schedule: _, ...usual } = daily
    const fresh = (await api.post('/analytics/kpis', usual)).data(Kpi)
    expect(fresh.schedule).toMatchObject({ cron: '1 0 * * *', timeZone: 'Europe/Berlin' })
    expect(await hasPoints(fresh.id, 1)).toMatchObject([{ value: 0, backfilled: false, status: 'on_target' }])
    expect((await shown(fresh.id)).standing.nextAt).not.toBeNull()
  })

  it('is deleted with its history and schedule', async () => {
    expect((await api.send('DELETE', `/analytics/kpis/${one.id}`)).status).toBe(204)
    expect((await api.get(`/analytics/kpis/${one.id}/history`)).status).toBe(404)
    await until(async () => {
      const [left] = await service.sql`
        select (select count(*) from kpi_points where kpi_id = ${one.id})
          + (select count(*) from schedules where owner_id = ${one.id})
          + (select count(*) from kpi_evaluations where kpi_id = ${one.id}) as rows`
      return left?.rows === '0'
    }, 'everything to be gone')
  })
})

it('a KPI is rejected with the path of the invalid field, or if the caller may not read its source', async () => {
  const refused = async (fields: object) => {
    const error = (await api.post('/analytics/kpis', { ...daily, ...fields })).error()
    return [error.code, ...error.details.map(({ path }) => path)]
  }
  expect(await refused({ name: '' })).toEqual(['validation_failed', '/name'])
  expect(await refused({ source: { measure: { dataset: 'incidents', measure: 'x' } } })).toContain(
    'validation_failed',
  )
  expect(await refused({ source: { measure: { dataset: 'x', measure: 'x' } } })).toContain(
    'validation_failed',
  )
  const query = { dataset: 'incidents', measures: ['incidents'] }
  expect(await refused({ source: { query, column: 'open' } })).toEqual([
    'validation_failed',
    '/source/column',
  ])
  expect(await refused({ timeZone: 'Mars/Olympus' })).toContain('/timeZone')
  expect(await refused({ targets: [daily.targets[0], daily.targets[0]] })).toContain('/targets')
  const some = service.as({ ...ada, permissions: ['analytics:read', 'analytics:write'] })
  expect((await some.post('/analytics/kpis', daily)).error().code).toBe('insufficient_scope')
  const reader = service.as({ ...ada, permissions: ['analytics:read'] })
  expect((await reader.post('/analytics/kpis', daily)).error().code).toBe('insufficient_scope')
  const outsider = service.as(testPrincipal())
  const { id } = await create({ source: { query, column: 'incidents' } })
  expect((await outsider.get(`/analytics/kpis/${id}`)).status).toBe(404)
  expect((await outsider.get(`/analytics/kpis/${id}/history`)).status).toBe(404)
  const table = { table: 'assets', measures: ['count'] }
  const ofTable = await create({ source: { query: table, column: 'count' } })
  const backfill = await api.post(`/analytics/kpis/${ofTable.id}/backfill`, { from: '2026-03-01T00:00:00Z' })
  expect(backfill.error().code).toBe('conflict')
})

it('KPIs are the same after a rebuild from their events', async () => {
  const rows = () => service.sql`select * from kpis order by id`
  const before = await rows()
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
