import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId, type PlatformEvent, QueryAnswer, Report } from '@opsplane/contracts'
import { seededRandom, testPrincipal, waitFor, waitUntilSettled } from '@opsplane/testing'
import {
  type Analytics,
  allFacts,
  incidentEvent,
  incidentState,
  isRebuilt,
  publish,
  startAnalytics,
  waitForFacts,
} from './facts.fixture.js'

const ada = testPrincipal()
const workspaceId = ada.workspaceId ?? ''
const random = seededRandom(11)
let service: Analytics

beforeAll(async () => {
  service = await startAnalytics()
})
afterAll(() => service?.stop())

const recordEvent = (operation: string): PlatformEvent => ({
  ...incidentEvent(workspaceId, incidentState()),
  type: `record.${operation}`,
  resource: { type: 'record', id: newId('record'), displayName: 'Drill' },
  data: { before: null, after: { serial: 'A-17' }, changes: [], tableSlug: 'assets' },
})

/** Incidents with several versions each, and records, in random order. */
const history = [
  ...Array.from({ length: 60 }, () => {
    const state = incidentState({ createdAt: new Date(Date.UTC(2026, 0, 1) + random() * 9e9).toISOString() })
    return Array.from({ length: 4 }, (_, index) =>
      incidentEvent(
        workspaceId,
        { ...state, commentCount: index, title: `Version ${index + 1}` },
        { version: index + 1 },
      ),
    )
  }).flat(),
  ...['created', 'updated', 'updated', 'deleted'].map(recordEvent),
].sort(() => random() - 0.5)

/** Rolls back all transactions in flight, as when a process dies. */
const cutConnections = () =>
  service.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'opsplane-analytics'
    and datname = current_database()`

describe('facts', () => {
  it('are the latest versions, despite repeated and reordered events and broken connections', async () => {
    const coming = [...history, ...history.slice(0, 80)]
    for (let first = 0; first < coming.length; first += 40) {
      await publish(service.natsPrefix, coming.slice(first, first + 40))
      await cutConnections()
    }
    await waitForFacts(service, 'fact_records', workspaceId, 4)
    await waitUntilSettled(service)
    const { incidents = [], records = [], events = [] } = await allFacts(service)
    expect(incidents).toHaveLength(60)
    expect(incidents).toEqual(
      incidents.map((fact) => expect.objectContaining({ id: fact.id, title: 'Version 4', version: '4' })),
    )
    expect(records).toHaveLength(4)
    expect(events).toHaveLength(240)
  })

  it('are stored in the partitions of their months', async () => {
    const month = new Date().toISOString().slice(0, 7).replace('-', '')
    const found = await service.sql`select distinct tableoid::regclass::text as name from fact_incidents`
    expect(found.map(({ name }) => name)).toEqual([`fact_incidents_${month}`])
  })

  it('are the same after a rebuild from the logs that was interrupted several times', async () => {
    const incremental = await allFacts(service)
    // All services share one log here: each event is read several times, and is delivered on the stream as well.
    service.others.events.push(...history)
    await service.sql`update fact_incidents set title = 'Spoilt', version = 1000`
    await service.rebuild()
    await cutConnections()
    await waitForFacts(service, 'fact_incidents', workspaceId, 1)
    await cutConnections()
    await isRebuilt(service)
    await waitUntilSettled(service)
    // The log of analytics itself is not among them.
    expect(await allFacts(service)).toEqual(incremental)
  })

  it('report their age as dataAsOf, and the epoch while a rebuild is pending', async () => {
    const api = service.as(ada)
    const query = { dataset: 'incidents', measures: ['incidents'], range: { last: 2, unit: 'year' } }
    const { id } = (await api.post('/analytics/reports', { name: 'All', query })).data(Report)
    const asOf = async () =>
      Date.parse((await api.post(`/analytics/reports/${id}/run`, {})).data(QueryAnswer).dataAsOf)
    const startedAt = Date.now()
    await waitFor(async () => (await asOf()) >= startedAt)
    await service.sql`insert into fact_rebuilds (source, position, due_at) values ('absent', 0, 'infinity')`
    expect(await asOf()).toBe(0)
    await service.sql`delete from fact_rebuilds`
  })
})
