import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { QueryAnswer, Report } from '@opsplane/contracts'
import { type ApiClient, type TestService, testPrincipal } from '@opsplane/testing'
import { incidentEvent, incidentState, publish, startAnalytics, waitForFacts } from '../fact/facts.fixture.js'

const ada = testPrincipal()
const workspaceId = ada.workspaceId ?? ''
let service: TestService
let api: ApiClient

const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' }
const resolved = (createdAt: string, minutes: number) => ({
  ...{ createdAt, status: 'resolved' as const },
  resolvedAt: new Date(Date.parse(createdAt) + minutes * 60_000).toISOString(),
})
const incidents = [
  incidentState({
    createdAt: '2026-03-01T22:30:00.000Z',
    severity: 'critical',
    assignmentGroup: 'payments',
    callerId: 'usr_a',
  }),
  incidentState({
    createdAt: '2026-03-01T23:30:00.000Z',
    severity: 'high',
    assignmentGroup: 'payments',
    callerId: 'usr_b',
  }),
  incidentState({
    ...resolved('2026-03-02T10:00:00.000Z', 60),
    severity: 'high',
    assignmentGroup: 'network',
    callerId: 'usr_a',
  }),
  incidentState({ ...resolved('2026-03-02T11:00:00.000Z', 120), severity: 'low', callerId: 'usr_c' }),
  // In the previous month.
  incidentState({ ...resolved('2026-02-10T11:00:00.000Z', 30), severity: 'high' }),
]

beforeAll(async () => {
  service = await startAnalytics()
  api = service.as(ada)
  await publish(
    service.natsPrefix,
    incidents.map((state) => incidentEvent(workspaceId, state)),
  )
  await waitForFacts(service, 'fact_incidents', workspaceId, incidents.length)
})
afterAll(() => service?.stop())

const query = { dataset: 'incidents', measures: ['incidents'], range: march }
const create = (body: object) => api.post('/analytics/reports', { name: 'Incidents', ...body })
const run = async (asked: object, body: object = {}, client = api) => {
  const { id } = (await create({ query: { ...query, ...asked } })).data(Report)
  return client.post(`/analytics/reports/${id}/run`, body)
}
const answer = async (asked: object, body?: object) => (await run(asked, body)).data(QueryAnswer)

describe('a report', () => {
  it('counts by dimensions, with totals across all groups', async () => {
    const { rows, totals, columns, dataAsOf } = await answer({
      measures: [
        'incidents',
        'open',
        'resolved',
        'callers',
        'p50_time_to_resolve',
        'average_time_to_resolve',
      ],
      dimensions: ['severity'],
      sort: '-incidents',
    })
    expect(columns.map(({ name, role }) => `${role} ${name}`)).toEqual([
      ...['dimension severity', 'measure incidents', 'measure open', 'measure resolved', 'measure callers'],
      ...['measure p50_time_to_resolve', 'measure average_time_to_resolve'],
    ])
    expect(
      rows.map(({ severity, incidents, open, callers }) => [severity, incidents, open, callers]),
    ).toEqual([
      ['high', 2, 1, 2],
      ['critical', 1, 1, 1],
      ['low', 1, 0, 1],
    ])
    expect(totals).toMatchObject({
      incidents: 4,
      open: 2,
      resolved: 2,
      callers: 3,
      average_time_to_resolve: 5_400_000,
    })
    // Half of them took at most an hour, within 1 %.
    expect(Math.abs(Number(totals?.p50_time_to_resolve) / 3_600_000 - 1)).toBeLessThan(0.01)
    expect(Date.parse(dataAsOf)).toBeGreaterThan(Date.parse('2026-03-01'))
  })

  it('groups by the days of its time zone', async () => {
    const days = async (timeZone: string) =>
      (await answer({ grain: 'day', timeZone })).rows.map(({ time, incidents }) => [time, incidents])
    expect(await days('UTC')).toEqual([
      ['2026-03-01T00:00:00.000Z', 2],
      ['2026-03-02T00:00:00.000Z', 2],
    ])
    expect(await days('Europe/Berlin')).toEqual([
      ['2026-02-28T23:00:00.000Z', 1],
      ['2026-03-01T23:00:00.000Z', 3],
    ])
    expect(await days('Asia/Kathmandu')).toEqual([['2026-03-01T18:15:00.000Z', 4]])
  })

  it('resolves the dates of its range in its time zone, or in that of the request', async () => {
    const range = { from: '2026-03-01', to: '2026-03-02' }
    const given = (await create({ query: { ...query, range } })).data(Report)
    expect(given.query.range).toEqual(range)
    const counted = async (body: object) => {
      const path = `/analytics/reports/${given.id}/run`
      const answer = (await api.post(path, body)).data(QueryAnswer)
      return [answer.range?.from, answer.totals?.incidents]
    }
    expect(await counted({})).toEqual(['2026-03-01T00:00:00.000Z', 2])
    expect(await counted({ timeZone: 'Europe/Berlin' })).toEqual(['2026-02-28T23:00:00.000Z', 1])
    const mixed = { from: '2026-03-02', to: '2026-03-01T23:30:00Z' }
    expect(await counted({ range: mixed, timeZone: 'Europe/Berlin' })).toEqual([
      '2026-03-01T23:00:00.000Z',
      0,
    ])
    const refused = { code: 'validation_failed', details: [{ path: '/range/to' }] }
    expect((await run({}, { range: mixed })).error()).toMatchObject(refused)
    const saved = { code: 'validation_failed', details: [{ path: '/query/range/to' }] }
    expect((await create({ query: { ...query, range: mixed } })).error()).toMatchObject(saved)
  })

  it('compares with the previous period', async () => {
    const { comparison } = await answer({
      ...{ dimensions: ['severity'], comparePrevious: true },
      range: { from: '2026-03-01T00:00:00Z', to: '2026-03-29T00:00:00Z' },
    })
    expect(comparison).toEqual({
      range: { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' },
      rows: [{ severity: 'high', incidents: 1 }],
      totals: { incidents: 1 },
    })
  })

  it('filters by the parameters it is run with, and rejects invalid ones', async () => {
    const { id } = (
      await create({
        query: {
          ...query,
          filters: { severity: '{{ params.severity }}', assignmentGroup: { exists: true } },
        },
        parameters: [{ name: 'severity', required: false }],
      })
    ).data(Report)
    const total = async (body: object) =>
      (await api.post(`/analytics/reports/${id}/run`, body)).data(QueryAnswer).totals?.incidents
    expect(await total({})).toBe(3)
    expect(await total({ parameters: { severity: 'high' } })).toBe(2)
    expect(await total({ parameters: { severity: 'low' } })).toBe(0)
    const wrong = await api.post(`/analytics/reports/${id}/run`, {
      parameters: { severity: 3, colour: 'red' },
    })
    expect(wrong.error().details.map(({ path }) => path)).toEqual([
      '/parameters/colour',
      '/parameters/severity',
    ])
  })

  it('counts by another time field when requested', async () => {
    const { rows } = await answer({ timeField: 'resolvedAt', grain: 'month', measures: ['incidents'] })
    expect(rows).toEqual([{ time: '2026-03-01T00:00:00.000Z', incidents: 2 }])
  })

  it.each([
    [{ dataset: 'weather' }, '/query/dataset'],
    [{ measures: ['happiness'] }, '/query/measures/0'],
    [{ dimensions: ['title'] }, '/query/dimensions/0'],
    [{ filters: { severity: 3 } }, '/query/filters/severity'],
    [{ filters: { colour: 'red' } }, '/query/filters/colour'],
    [{ sort: '-colour' }, '/query/sort'],
    [{ timeField: 'title' }, '/query/timeField'],
    [{ timeZone: 'Mars/Olympus' }, '/query/timeZone'],
    [{ filters: { severity: '{{ params.gone }}' } }, '/query'],
  ])('cannot be saved with %j', async (asked, path) => {
    const refused = (await create({ query: { ...query, ...asked } })).error()
    expect(refused).toMatchObject({ code: 'validation_failed', details: [{ path }] })
  })

  it('shows no data without the permission, or to another workspace', async () => {
    const asked = { query }
    const { id } = (await create(asked)).data(Report)
    // Caches the answer for callers with the permission.
    expect((await api.post(`/analytics/reports/${id}/run`, {})).data(QueryAnswer).totals).toEqual({
      incidents: 4,
    })
    const without = service.as(testPrincipal({ workspaceId, permissions: ['analytics:read'] }))
    expect((await without.post(`/analytics/reports/${id}/run`, {})).error().code).toBe('insufficient_scope')
    const other = service.as(testPrincipal())
    expect((await other.post(`/analytics/reports/${id}/run`, {})).error().code).toBe('not_found')
    const own = (await other.post('/analytics/reports', { name: 'Mine', query })).data(Report)
    const empty = (await other.post(`/analytics/reports/${own.id}/run`, {})).data(QueryAnswer)
    expect(empty).toMatchObject({ rows: [{ incidents: 0 }], totals: { incidents: 0 } })
    const staging = service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    expect((await staging.get(`/analytics/reports/${id}`)).status).toBe(404)
  })

  it('can be changed, listed and deleted', async () => {
    const { id } = (await create({ query })).data(Report)
    const changed = await api.patch(`/analytics/reports/${id}`, {
      name: 'By team',
      query: { ...query, dimensions: ['assignmentGroup'] },
    })
    expect(changed.data(Report)).toMatchObject({ name: 'By team', version: 2, ownerId: ada.userId })
    const listed = (await api.get('/analytics/reports?limit=200')).page(Report).items
    expect(listed.find((each) => each.id === id)?.name).toBe('By team')
    expect((await api.send('DELETE', `/analytics/reports/${id}`)).status).toBe(204)
    expect((await api.get(`/analytics/reports/${id}`)).status).toBe(404)
  })
})
