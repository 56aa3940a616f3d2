import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Connector, ConnectorTest } from '@opsplane/contracts'
import { type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
let recorder: EventRecorder
/** A separate service for each of these tests, with this interval between checks. */
const checkedEach = (seconds: string) => {
  beforeAll(async () => {
    fixture = await startFixture({ CONNECTOR_CHECK_SECONDS: seconds })
    recorder = await recordEvents(fixture.service.natsPrefix)
  })
  afterAll(async () => {
    await recorder?.stop()
    await fixture?.stop()
  })
}
beforeEach(() => fixture.answers(() => ({ status: 200 })))

const once = { retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 } }
const connect = () => fixture.connect('http', { baseUrl: fixture.receiver.url }, once)
const get = async (id: string) => (await fixture.api.get(`/connectors/${id}`)).data(Connector)
const test = async (id: string) => (await fixture.api.post(`/connectors/${id}/test`)).data(ConnectorTest)
const changesOf = (id: string) =>
  recorder.published
    .filter(({ event }) => event.resource.id === id && event.type === 'connector.status_changed')
    .map(({ event }) => [
      event.data.previousStatus,
      Connector.shape.status.parse(Object(event.data.after).status),
    ])
const rowOf = async (id: string) => {
  const [row] = await fixture.service.sql`
    select misses, due_at as "dueAt" from connector_health where connector_id = ${id}`
  return row
}
const away = () => fixture.answers(() => ({ status: 503 }))

describe('the status of a connector', () => {
  // An additional check would count as one more test.
  checkedEach('3600')

  it('is down after two failed tests in a row, and up after one successful test', async () => {
    const { id } = await connect()
    away()
    expect(await test(id)).toMatchObject({ ok: false, status: 'unknown' })
    expect(await test(id)).toMatchObject({
      ok: false,
      status: 'down',
      message: expect.stringContaining('503'),
    })
    expect(await get(id)).toMatchObject({ status: 'down', lastError: 'The answer was 503.' })
    fixture.answers(() => ({ status: 200 }))
    expect(await test(id)).toMatchObject({ ok: true, status: 'up', message: 'GET was answered with 200.' })
    expect(await get(id)).toMatchObject({
      status: 'up',
      lastError: null,
      statusChangedAt: expect.any(String),
    })
    await waitFor(() => changesOf(id).length === 2)
    expect(changesOf(id)).toEqual([
      ['unknown', 'down'],
      ['down', 'up'],
    ])
  })

  it('follows invocations, where an error response such as 404 counts as up', async () => {
    const { id } = await connect()
    fixture.answers(() => ({ status: 404 }))
    await fixture.invoke(id, 'get', {})
    expect((await get(id)).status).toBe('up')
    away()
    for (let count = 0; count < 2; count++) await fixture.invoke(id, 'get', {})
    expect((await get(id)).status).toBe('down')
  })

  it('applies only to the current configuration', async () => {
    const { id } = await connect()
    away()
    for (let count = 0; count < 2; count++) await test(id)
    const config = { baseUrl: `${fixture.receiver.url}/elsewhere` }
    const changed = (await fixture.api.patch(`/connectors/${id}`, { config })).data(Connector)
    expect(changed).toMatchObject({ status: 'unknown', lastError: null })
    expect(await test(id)).toMatchObject({ status: 'unknown' })
  })

  it('is the same after a rebuild from the events', async () => {
    await fixture.api.patch(`/connectors/${(await connect()).id}`, { enabled: false })
    await fixture.api.send('DELETE', `/connectors/${(await connect()).id}`)
    const rows = () => fixture.service.sql`select id, version, state from connectors order by id`
    const before = await rows()
    await fixture.service.rebuild()
    expect(await rows()).toEqual(before)
  })
})

describe('checks', () => {
  checkedEach('1')

  it('detect on schedule that a connector in use becomes unavailable and recovers', async () => {
    const { id } = await connect()
    await fixture.invoke(id, 'get', {})
    away()
    await waitFor(async () => (await get(id)).status === 'down')
    fixture.answers(() => ({ status: 200 }))
    await waitFor(async () => (await get(id)).status === 'up')
    await waitFor(() => changesOf(id).length === 3)
    expect(changesOf(id).map(([, status]) => status)).toEqual(['up', 'down', 'up'])
  })

  it('skip connectors that are unused, no longer used, disabled or deleted', async () => {
    const { id: unused } = await connect()
    expect(await rowOf(unused)).toBeUndefined()
    const rests = async (id: string) => (await rowOf(id))?.dueAt === null
    const { id: old } = await connect()
    await fixture.invoke(old, 'get', {})
    await fixture.service
      .sql`update connector_health set last_used_at = now() - interval '25 hours' where connector_id = ${old}`
    const { id: off } = await connect()
    await fixture.invoke(off, 'get', {})
    await fixture.api.patch(`/connectors/${off}`, { enabled: false })
    const { id: gone } = await connect()
    await fixture.invoke(gone, 'get', {})
    await fixture.api.send('DELETE', `/connectors/${gone}`)
    await waitFor(async () => (await rests(old)) && (await rests(off)) && (await rowOf(gone)) === undefined)
    // If a check came first, the next observation is written only after a few seconds.
    await waitFor(async () => {
      await fixture.invoke(old, 'get', {})
      return !(await rests(old))
    })
  })

  it('report each change once while two replicas check and test concurrently', async () => {
    const replica = await fixture.service.replica()
    try {
      const { id } = await connect()
      await test(id)
      const headers = {
        ...(await fixture.service.headers(fixture.principal)),
        'content-type': 'application/json',
      }
      const everywhere = () =>
        Promise.all(
          [fixture.service.url, replica.url].flatMap((url) =>
            Array.from({ length: 5 }, () =>
              fetch(`${url}/connectors/${id}/test`, { method: 'POST', headers }),
            ),
          ),
        )
      away()
      await everywhere()
      await waitFor(async () => (await get(id)).status === 'down')
      fixture.answers(() => ({ status: 200 }))
      await everywhere()
      await waitFor(() => changesOf(id).at(-1)?.[1] === 'up' && changesOf(id).length >= 3)
      // A check in flight may report a different state than the others: then there is one additional change, and one back.
      const statuses = ['unknown', ...changesOf(id).map(([, status]) => status)]
      expect(changesOf(id).map(([before]) => before)).toEqual(statuses.slice(0, -1))
      expect(statuses.every((status, at) => status !== statuses[at + 1])).toBe(true)
    } finally {
      await replica.stop()
    }
  })
})
