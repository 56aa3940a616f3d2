import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ApiError,
  ConfigurationItem,
  Incident,
  NewIncident,
  type Principal,
  systemActor,
} from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect } from '@opsplane/postgres'
import { isLongTier, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { uncheckedPeople } from '../people.js'
import { itsm } from '../service.js'
import { settingsStore } from '../settings/settings-store.js'
import { incidentStore } from './incident-store.js'
import { openIncident } from './open-incident.js'

let service: TestService
const path = '/itsm/incidents'
/** Number of concurrent alerts. Each lost race repeats a decision, so the work grows quadratically. */
const atOnce = isLongTier() ? 50 : 20
const alert = { title: 'Checkout answers 502', dedupKey: 'checkout-5xx' }

beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

function settings(overrides: Partial<Principal> = {}) {
  const principal = testPrincipal(overrides)
  const api = service.as(principal)
  const send = async (fields: object = {}) => (await api.post(path, { ...alert, ...fields })).data(Incident)
  const all = async () => (await api.get(`${path}?dedupKey=${alert.dedupKey}`)).page(Incident).items
  return { principal, api, send, all }
}

it('opens one incident for a dedupKey, and counts later alerts on it', async () => {
  const { api, send, all } = settings()
  const first = await api.post(path, alert)
  expect([first.status, first.headers.get('location')]).toEqual([201, expect.stringContaining('/inc_')])
  const opened = first.data(Incident)
  expect(opened).toMatchObject({ alertCount: 1, lastAlertAt: opened.createdAt, version: 1 })

  const again = await api.post(path, { ...alert, title: 'Another title', severity: 'critical' })
  expect([again.status, again.headers.get('location'), again.headers.get('etag')]).toEqual([200, null, '"2"'])
  const { updatedAt, lastAlertAt } = again.data(Incident)
  expect(again.data(Incident)).toEqual({ ...opened, alertCount: 2, version: 2, updatedAt, lastAlertAt })
  expect(lastAlertAt).toBe(updatedAt)
  await send()
  expect((await all()).map(({ id, alertCount }) => [id, alertCount])).toEqual([[opened.id, 3]])
  const events = await service.sql`select type from events where stream_id = ${opened.id} order by version`
  expect(events.map(({ type }) => type)).toEqual(['incident.created', 'incident.updated', 'incident.updated'])
})

it('counts an alert that names an item retired since, as its fields are not used', async () => {
  const { api, send } = settings()
  const item = await api.post('/cmdb/items', { name: 'checkout-db-1', class: 'database' })
  const { id: ciId } = item.data(ConfigurationItem)
  const opened = await send({ ciId })
  expect((await api.post(`/cmdb/items/${ciId}/retire`)).status).toBe(200)
  expect(await send({ ciId })).toMatchObject({ id: opened.id, alertCount: 2 })
  const other = await api.post(path, { ...alert, dedupKey: 'another', ciId })
  expect(other.error().details).toMatchObject([{ path: '/ciId', code: 'retired' }])
})

it('opens one incident for many concurrent alerts', async () => {
  const { api, all } = settings()
  const replies = await Promise.all(Array.from({ length: atOnce }, () => api.post(path, alert)))
  const statuses = replies.map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array<number>(atOnce - 1).fill(200), 201])
  const counts = replies.map((reply) => reply.data(Incident).alertCount).toSorted((a, b) => a - b)
  expect(counts).toEqual(Array.from({ length: atOnce }, (_, index) => index + 1))
  expect((await all()).map(({ alertCount, version }) => [alertCount, version])).toEqual([[atOnce, atOnce]])
})

it('opens one incident for concurrent alerts at several processes', async () => {
  const { principal, all } = settings()
  const meta = () => ({
    tenant: { workspaceId: String(principal.workspaceId), environment: 'production' as const },
    actor: systemActor,
    now: new Date().toISOString(),
    requestId: null,
  })
  const processes = Array.from({ length: 4 }, () => {
    const database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
    // The parts of the context that opening an incident uses.
    const ctx = { database, store: createEventStore({ database }) } as Parameters<typeof openIncident>[0]
    return {
      database,
      open: () =>
        openIncident(
          ctx,
          incidentStore(ctx, { settings: settingsStore(ctx), people: uncheckedPeople }),
          NewIncident.parse(alert),
          meta(),
        ),
    }
  })
  let refused = 0
  const insist = async (open: () => Promise<Incident>): Promise<Incident> => {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof ApiError && error.retryable)) throw error
      refused += 1
      return insist(open)
    }
  }
  await Promise.all(processes.flatMap(({ open }) => Array.from({ length: 10 }, () => insist(open))))
  expect((await all()).map(({ alertCount }) => alertCount)).toEqual([40])
  expect(refused).toBe(0)
  await Promise.all(processes.map(({ database }) => database.close()))
})

it('replays the response of an Idempotency-Key with its original status', async () => {
  const { api, all } = settings()
  const send = (key: string) => api.post(path, alert, { 'idempotency-key': key })
  for (const [key, status, replayed, alertCount] of [
    ['first', 201, null, 1],
    ['second', 200, null, 2],
    ['second', 200, 'true', 2],
    ['first', 201, 'true', 1],
  ] as const) {
    const reply = await send(key)
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([status, replayed])
    expect(reply.headers.has('location')).toBe(status === 201)
    expect(reply.data(Incident).alertCount).toBe(alertCount)
  }
  expect((await all())[0]?.alertCount).toBe(2)
})

it('counts alerts in every active status, and opens another incident once work has ended', async () => {
  const { api, send, all } = settings()
  const { id } = await send()
  for (const patch of [
    { status: 'in_progress' },
    { status: 'on_hold', holdReason: 'awaiting_vendor' },
  ] as const) {
    await api.patch(`${path}/${id}`, patch)
    expect(await send()).toMatchObject({ id, status: patch.status })
  }
  await api.post(`${path}/${id}/resolve`)
  const second = await send()
  expect(second).toMatchObject({ status: 'open', alertCount: 1 })
  expect(second.id).not.toBe(id)
  await api.patch(`${path}/${second.id}`, { status: 'canceled' })
  const third = await send()
  expect((await all()).map((incident) => [incident.id, incident.alertCount])).toEqual([
    [third.id, 1],
    [second.id, 1],
    [id, 3],
  ])
})

describe('reopening an incident whose dedupKey another open incident has', () => {
  it('is rejected, and the error names that incident', async () => {
    const { api, send } = settings()
    const { id } = await send()
    await api.post(`${path}/${id}/resolve`)
    const second = await send()
    for (const reply of [
      await api.post(`${path}/${id}/reopen`),
      await api.patch(`${path}/${id}`, { status: 'open' }),
    ]) {
      expect(reply.error()).toMatchObject({
        code: 'conflict',
        details: [{ code: 'not_unique', params: { incidentId: second.id } }],
      })
    }
    await api.patch(`${path}/${second.id}`, { status: 'canceled' })
    expect((await api.post(`${path}/${id}/reopen`)).status).toBe(200)
    expect(await send()).toMatchObject({ id, alertCount: 2 })
  })

  it('after that incident has ended is reproduced when read models are rebuilt from the log', async () => {
    const { api, send } = settings()
    const { id } = await send()
    await api.post(`${path}/${id}/resolve`)
    const second = await send()
    // More events than fit into one batch of the rebuild.
    const fillers = Array.from({ length: 520 }, (_, at) => api.post(path, { title: `Filler ${at}` }))
    await Promise.all(fillers)
    await api.post(`${path}/${id}/comments`, { body: 'It was this one.' })
    await api.patch(`${path}/${second.id}`, { status: 'canceled' })
    await api.post(`${path}/${id}/reopen`)
    const rows = () => service.sql`select id, version, state from incidents order by id`
    const before = [...(await rows())]
    await service.rebuild()
    expect([...(await rows())]).toEqual(before)
  })
})

it('limits a dedupKey to one workspace and environment, and accepts it only at creation', async () => {
  const { api, principal, send } = settings()
  const { id } = await send()
  expect((await settings().send()).id).not.toBe(id)
  const staging = service.as({ ...principal, environment: 'staging' })
  expect((await staging.post(path, alert)).status).toBe(201)
  expect((await send({ dedupKey: 'checkout-slow' })).id).not.toBe(id)
  const patched = await api.patch(`${path}/${id}`, { dedupKey: 'other' })
  expect(patched.error().details[0]?.path).toBe('/dedupKey')
  for (const dedupKey of ['', ' ', 'x'.repeat(201)]) {
    expect((await api.post(path, { ...alert, dedupKey })).error().details[0]?.path).toBe('/dedupKey')
  }
})
