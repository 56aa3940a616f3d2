import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { QueryAnswer, Report } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { type Neighbours, startNeighbours } from '../export/export.fixture.js'
import { analytics } from '../service.js'

let neighbours: Neighbours
let service: TestService
let api: ApiClient
beforeAll(async () => {
  neighbours = await startNeighbours()
  const { url } = neighbours
  service = await startTestService(analytics, {
    env: { SERVICE_URLS: JSON.stringify({ settings: url, 'database-studio': url }) },
  })
  api = service.as(testPrincipal())
})
afterAll(async () => {
  await service?.stop()
  await neighbours?.stop()
})

/** Every part of a query that can be invalid, with its pointer within the query. */
const wrong: [pointer: string, change: object][] = [
  ['/dataset', { dataset: 'x' }],
  ['/measures/0', { measures: ['x'] }],
  ['/dimensions/0', { dimensions: ['x'] }],
  ['/filters/x~1y', { filters: { 'x/y': 1 } }],
  ['/filters/severity', { filters: { severity: 1 } }],
  ['/timeField', { timeField: 'x' }],
  ['/sort', { sort: 'x' }],
]
const query = { dataset: 'incidents', measures: ['incidents'] }
const widget = (asked: object | undefined) => ({
  id: 'one',
  title: 'One',
  kind: 'table',
  width: 1,
  query: asked,
})

/** Every operation that accepts a query, with the query's pointer in the body. */
const doors: [path: string, prefix: string, body: (asked: object) => object][] = [
  ['/analytics/reports', '/query', (asked) => ({ name: 'R', query: asked })],
  ['/analytics/dashboards', '/widgets/0/query', (asked) => ({ name: 'D', widgets: [widget(asked)] })],
  ['/analytics/exports', '/source/query', (asked) => ({ source: { query: asked } })],
  [
    '/analytics/kpis',
    '/source/query',
    (asked) => ({
      name: 'K',
      source: { query: asked, column: (asked as typeof query).measures[0] ?? '' },
    }),
  ],
]
const cases: [path: string, pointer: string, body: object][] = [
  ...doors.flatMap(([path, prefix, body]) =>
    wrong
      // A KPI is measured without sort and dimensions.
      .filter(([pointer]) => path !== '/analytics/kpis' || !/dimensions|sort/.test(pointer))
      .map(([pointer, change]): [string, string, object] => [
        path,
        `${prefix}${pointer}`,
        body({ ...query, ...change }),
      ]),
  ),
  ...(
    [
      ['/dataset', { dataset: 'x' }],
      ['/columns/1', { columns: ['number', 'x'] }],
      ['/filters/x', { filters: { x: 1 } }],
    ] as const
  ).map(([pointer, change]): [string, string, object] => [
    '/analytics/exports',
    `/source/facts${pointer}`,
    { source: { facts: { dataset: 'incidents', ...change } } },
  ]),
  ...(
    [
      ['/dataset', { dataset: 'x' }],
      ['/measure', { measure: 'x' }],
      ['/filters/x', { filters: { x: 1 } }],
    ] as const
  ).map(([pointer, change]): [string, string, object] => [
    '/analytics/kpis',
    `/source/measure${pointer}`,
    { name: 'K', source: { measure: { dataset: 'incidents', measure: 'incidents', ...change } } },
  ]),
  ['/analytics/exports', '/source/records/table', { source: { records: { table: 'nowhere' } } }],
]

describe('an invalid query is rejected with the path of the field in the request', () => {
  it.each(cases)('POST %s: %s', async (path, pointer, body) => {
    const error = (await api.post(path, body)).error()
    expect([error.code, error.details.map(({ in: where, path: at }) => `${where} ${at}`)]).toEqual([
      'validation_failed',
      [`body ${pointer}`],
    ])
  })

  it.each([
    ['/query/table', { table: 'nowhere' }],
    ['/query/dimensions/0', { dimensions: ['colour'] }],
    ['/query/measures/1', { measures: ['count', 'sum:colour'] }],
    ['/query/timeField', { timeField: 'serial', grain: 'day' }],
    ['/query/timeField', { timeField: 'colour' }],
  ])('for a report over a table when it is run: %s', async (pointer, change) => {
    const asked = { table: 'assets', measures: ['count'], ...change }
    const { id } = (await api.post('/analytics/reports', { name: 'R', query: asked })).data(Report)
    const error = (await api.post(`/analytics/reports/${id}/run`, {})).error()
    expect([error.status, error.details.map(({ in: where, path }) => `${where} ${path}`)]).toEqual([
      422,
      [`body ${pointer}`],
    ])
  })
})

describe('invalid parameters of a report are rejected with the path of the field in the request', () => {
  const asked = { ...query, filters: { severity: '{{ params.severity }}' } }
  const parameters = { severity: 3 }

  it.each<[path: string, place: string, body: (report: string) => object]>([
    ['/analytics/reports/:id/run', 'body /parameters/severity', () => ({ parameters })],
    ['/analytics/reports/:id/export', 'body /parameters/severity', () => ({ parameters })],
    [
      '/analytics/exports',
      'body /source/parameters/severity',
      (report) => ({ source: { report, parameters } }),
    ],
    [
      '/analytics/dashboards',
      'body /widgets/0/parameters/severity',
      (report) => ({ name: 'D', widgets: [{ ...widget(undefined), report, parameters }] }),
    ],
  ])('POST %s: %s', async (path, place, body) => {
    const saved = { name: 'R', query: asked, parameters: [{ name: 'severity', required: false }] }
    const { id } = (await api.post('/analytics/reports', saved)).data(Report)
    const error = (await api.post(path.replace(':id', id), body(id))).error()
    expect([error.code, error.details.map(({ in: where, path: at }) => `${where} ${at}`)]).toEqual([
      'validation_failed',
      [place],
    ])
  })
})

describe('an error of the database studio is reported with the path of the field in the query', () => {
  const columns = { table: 'assets', measures: ['sum:price'], dimensions: ['serial'] }

  it.each([
    ['query', '/fields', '/query/dimensions', columns],
    ['query', '/fields', '/query/table', { table: 'assets', measures: ['sum:price'] }],
    ['query', '/filter/serial', '/query/filters/serial', columns],
    ['query', '/slow', '/query/table', columns],
  ] as const)('%s %s: %s', async (part, path, place, change) => {
    const { id } = (await api.post('/analytics/reports', { name: 'R', query: change })).data(Report)
    neighbours.refused = { in: part, path, code: 'invalid_value', message: 'is refused' }
    const error = (await api.post(`/analytics/reports/${id}/run`, {})).error()
    neighbours.refused = null
    expect([error.status, error.details]).toEqual([
      422,
      [{ in: 'body', path: place, code: 'invalid_value', message: 'is refused' }],
    ])
  })
})

it('a report over a table has typed columns, and groups dates by the time zone', async () => {
  neighbours.count = 15
  const asked = {
    ...{ table: 'assets', measures: ['sum:price', 'avg:count', 'max:count'], dimensions: ['extra'] },
    ...{ timeField: 'bought', grain: 'day', timeZone: 'Europe/Berlin', sort: '-sum:price', limit: 1 },
    range: { from: '2026-01-30T23:00:00Z', to: '2026-01-31T23:00:00Z' },
  }
  const { id } = (await api.post('/analytics/reports', { name: 'R', query: asked })).data(Report)
  const answer = (await api.post(`/analytics/reports/${id}/run`, {})).data(QueryAnswer)
  expect(answer.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    ...['time timestamp', 'extra json', 'sum:price decimal', 'avg:count number', 'max:count integer'],
  ])
  expect(answer.rows).toEqual([
    {
      time: '2026-01-30T23:00:00.000Z',
      extra: { at: 14 },
      'sum:price': 14.5,
      'avg:count': 14,
      'max:count': 14,
    },
  ])
  expect(answer.totals).toEqual({ 'sum:price': 112.5, 'avg:count': 7, 'max:count': 14 })
})
