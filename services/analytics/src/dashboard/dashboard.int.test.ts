import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Dashboard, DashboardData, Report } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import {
  type Analytics,
  incidentEvent,
  incidentState,
  publish,
  startAnalytics,
  waitForFacts,
} from '../fact/facts.fixture.js'

const ada = testPrincipal()
const workspaceId = ada.workspaceId ?? ''
let service: Analytics
let api: ApiClient

const now = new Date().toISOString()
const opened = (fields = {}) =>
  incidentEvent(workspaceId, incidentState({ createdAt: now, severity: 'critical', ...fields }))

beforeAll(async () => {
  service = await startAnalytics()
  api = service.as(ada)
})
afterAll(() => service?.stop())

const data = async (id: string, query = '', client = api) =>
  (await client.get(`/analytics/dashboards/${id}/data${query}`)).data(DashboardData)
const widget = ({ widgets }: DashboardData, id: string) => widgets.find((each) => each.id === id)
const tile = (id: string, fields: object = {}) => ({
  ...{ id, title: id, kind: 'metric' },
  query: { dataset: 'incidents', measures: ['incidents'] },
  ...fields,
})

describe('built-in dashboards', () => {
  it('return data for every widget without an error on a fresh installation', async () => {
    const listed = (await api.get('/analytics/dashboards')).page(Dashboard).items
    expect(listed.map(({ id }) => id)).toEqual([
      ...['service-desk', 'changes', 'sla', 'deliveries', 'automation', 'platform'],
    ])
    for (const { id, widgets } of listed) {
      const shown = await data(id)
      expect(shown.widgets.map(({ error }) => error)).toEqual(widgets.map(() => null))
    }
  })

  it('cannot be changed or deleted', async () => {
    expect((await api.patch('/analytics/dashboards/sla', { name: 'Mine' })).error().code).toBe('not_found')
    expect((await api.send('DELETE', '/analytics/dashboards/sla')).error().code).toBe('not_found')
  })

  it('show new events, and answer a long-polling request immediately when they arrive', async () => {
    const before = await data('service-desk')
    const waiter = data('service-desk', `?since=${before.since}`)
    await publish(service.natsPrefix, [opened(), opened({ severity: 'low', assignmentGroup: 'payments' })])
    // The second event may arrive after the awaited data was read.
    expect((await waiter).since).not.toBe(before.since)
    const seen = await waitFor(async () => {
      const shown = await data('service-desk')
      return widget(shown, 'open')?.answer?.totals?.open === 2 && shown
    })
    expect(widget(seen, 'severity')?.answer?.rows).toEqual([
      { severity: 'critical', open: 1 },
      { severity: 'low', open: 1 },
    ])
    expect(Date.parse(seen.dataAsOf)).toBeGreaterThan(0)
  })

  it('return the unchanged data when no events arrive before the timeout', async () => {
    const before = await data('changes')
    expect((await data('changes', `?since=${before.since}&timeout=100`)).since).toBe(before.since)
  })

  it('show an error in each widget that the caller may not read, and the data of the others', async () => {
    const permissions = ['analytics:read', 'itsm:read'] as const
    const agent = service.as(testPrincipal({ workspaceId, permissions: [...permissions] }))
    const automation = await data('automation', '', agent)
    expect(new Set(automation.widgets.map(({ error }) => error?.code))).toEqual(
      new Set(['insufficient_scope']),
    )
    const desk = await data('service-desk', '', agent)
    expect(desk.widgets.every(({ error }) => error === null)).toBe(true)
  })
})

describe('dashboards of a workspace', () => {
  it('can be created, changed, listed and deleted', async () => {
    const made = (await api.post('/analytics/dashboards', { name: 'Mine', widgets: [tile('all')] })).data(
      Dashboard,
    )
    expect(made).toMatchObject({ name: 'Mine', builtIn: false, ownerId: ada.userId, version: 1 })
    const changed = (await api.patch(`/analytics/dashboards/${made.id}`, { name: 'Ours' })).data(Dashboard)
    expect(changed).toMatchObject({ name: 'Ours', version: 2, widgets: made.widgets })
    const list = async (query: string) => (await api.get(`/analytics/dashboards?${query}`)).page(Dashboard)
    expect((await list('builtIn=false')).items).toEqual([changed])
    expect((await list('builtIn=true')).items).toHaveLength(6)
    const paged: Dashboard[] = []
    for (let after: string | null = ''; after !== null; ) {
      const { items, pagination } = await list(`limit=3${after && `&after=${encodeURIComponent(after)}`}`)
      paged.push(...items)
      after = pagination.nextCursor
    }
    expect(paged.map(({ id }) => id)).toEqual([...(await list('')).items.map(({ id }) => id)])
    expect(paged).toHaveLength(7)
    expect(paged.at(-1)).toEqual(changed)
    const foreign = service.as(testPrincipal())
    expect((await foreign.get(`/analytics/dashboards/${made.id}/data`)).error().code).toBe('not_found')
    expect((await api.send('DELETE', `/analytics/dashboards/${made.id}`)).status).toBe(204)
    expect((await api.get(`/analytics/dashboards/${made.id}`)).status).toBe(404)
  })

  it('show reports, and an error in a widget whose report was deleted', async () => {
    const query = { dataset: 'incidents', measures: ['open'], dimensions: ['severity'] }
    const { id: report } = (await api.post('/analytics/reports', { name: 'Open', query })).data(Report)
    const widgets = [tile('gone', { query: undefined, report }), tile('there')]
    const { id } = (await api.post('/analytics/dashboards', { name: 'Reports', widgets })).data(Dashboard)
    await waitForFacts(service, 'fact_incidents', workspaceId, 2)
    expect(widget(await data(id), 'gone')?.answer?.rows).toHaveLength(2)
    await api.send('DELETE', `/analytics/reports/${report}`)
    const shown = await data(id)
    expect(widget(shown, 'gone')?.error?.code).toBe('not_found')
    expect(widget(shown, 'there')?.answer?.totals).toEqual({ incidents: 2 })
  })

  it.each([
    [[tile('one', { query: { dataset: 'incidents', measures: ['joy'] } })], '/widgets/0/query/measures/0'],
    [[tile('one', { query: undefined, report: 'rpt_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' })], '/widgets/0/report'],
    [[tile('one'), tile('one')], '/widgets'],
  ])('cannot be saved with %j', async (widgets, path) => {
    const refused = (await api.post('/analytics/dashboards', { name: 'Wrong', widgets })).error()
    expect(refused).toMatchObject({ code: 'validation_failed', details: [{ path }] })
  })
})
