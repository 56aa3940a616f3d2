import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { BackendName } from '@opsplane/contracts'
import { serviceStates } from '@opsplane/local/ops'
import { pace, type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient, type TestCluster } from './platform.js'
import { validatingPack } from './validating-pack.js'

let cluster: TestCluster
let api: Api
let receiver: Receiver

const create = (title: string) =>
  api<{ data: { id: string } }>('POST', '/itsm/incidents', { body: { title } })

async function isDelivered(incidentId: string): Promise<void> {
  const hasArrived = () =>
    receiver.received().some((request) => JSON.parse(request.rawBody.toString()).data.id === incidentId)
  await waitFor(hasArrived, { message: `${incidentId} was not delivered` })
}

/** Number of requests while NATS is down: five per second in the long run (OUTAGE_SECONDS=120), otherwise a few. */
const outageSeconds = Number(process.env.OUTAGE_SECONDS ?? 0)
const outageRequests = Math.max(outageSeconds * 5, 20)

/** Tests that stop services and servers of a cluster with these services. */
export function outageTests(setting: () => TestCluster, started: readonly BackendName[]): void {
  beforeAll(async () => {
    cluster = setting()
    api = apiClient(cluster.info)
    receiver = await startReceiver({ tls: { key: cluster.certificate.key, cert: cluster.certificate.cert } })
    await api('POST', '/webhooks', {
      body: { name: 'outage', url: `${receiver.url}/outage`, events: ['incident.created'] },
    })
  })
  afterAll(() => receiver?.stop())

  test('the API keeps working without NATS, and the events are delivered once NATS is available again', async () => {
    await cluster.nats.stop()
    const ids: string[] = []
    for (let n = 0; n < outageRequests; n++) {
      const answer = await create('while NATS is away')
      expect(answer.status).toBe(201)
      ids.push(answer.body.data.id)
      if (outageSeconds > 0) await pace(200)
    }
    await cluster.nats.start()
    for (const id of ids) await isDelivered(id)
  })

  test('the API returns 503 with the error envelope without Postgres, and recovers without a restart', async () => {
    await cluster.postgres.stop()
    const answer = await waitFor(async () => {
      const errorAnswer = await create('while Postgres is away')
      return errorAnswer.status === 503 ? errorAnswer : undefined
    })
    expect(answer.body).toMatchObject({
      error: { code: 'service_unavailable', status: 503, retryable: true },
      meta: { requestId: expect.any(String) },
    })
    expect(answer.headers['retry-after']).toBeDefined()
    // The gateway reports the reasons of each service, and so does the command.
    const away = Object.fromEntries(started.map((name) => [name, 'not ready: database (cannot be reached)']))
    await waitFor(async () => {
      const ready = await fetch(`${cluster.info.origin}/readyz`)
      expect(ready.status).toBe(503)
      expect(await ready.json()).toMatchObject({ error: { details: [{ params: { checks: away } }] } })
      expect((await serviceStates(cluster.info.origin)).checks).toMatchObject(away)
      return true
    })

    await cluster.postgres.start()
    const created = await waitFor(async () => {
      const accepted = await create('Postgres is back')
      return accepted.status === 201 ? accepted : undefined
    })
    await isDelivered(created.body.data.id)
  })

  test.each([
    ['settings', 'itsm'],
    ['itsm', 'settings'],
    ['dispatcher', 'gateway'],
    ['gateway', 'dispatcher'],
  ] as const)(
    '%s and %s recover by themselves when stopped in this order and started in reverse order',
    async (first, second) => {
      await cluster.services[first].stop()
      await cluster.services[second].stop()
      await cluster.services[second].start()
      await cluster.services[first].start()
      const created = await waitFor(async () => {
        const accepted = await create(`after ${first} and ${second}`).catch(() => undefined)
        return accepted?.status === 201 ? accepted : undefined
      })
      await isDelivered(created.body.data.id)
    },
  )

  test('a request to a stopped service returns 503', async () => {
    await cluster.services.itsm.stop()
    const answer = await create('itsm is away')
    expect(answer).toMatchObject({
      status: 503,
      body: { error: { code: 'service_unavailable', retryable: true } },
    })
    await cluster.services.itsm.start()
  })

  test('without the sdk service, records pass validations that fail open and are refused by one that fails closed', async () => {
    const columns = { assets: 'serial', parts: 'price', journal: 'text' }
    for (const [slug, name] of Object.entries(columns))
      await api('POST', '/tables', { body: { slug, columns: [{ name, type: 'text' }] } })
    const grant = { tables: { journal: ['write'] } }
    expect((await api('POST', '/sdk/packs/install', { body: { ...validatingPack, grant } })).status).toBe(201)
    const assets = '/tables/assets/records'
    expect((await api('POST', assets, { body: { serial: 'B-8' } })).status).toBe(422)
    await cluster.services.sdk.stop()
    const closed = await api('POST', assets, { body: { serial: 'A-8' } })
    expect(closed).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect((await api('POST', '/tables/parts/records', { body: { price: '1.00' } })).status).toBe(201)
    await cluster.services.sdk.start()
    await waitFor(async () => (await api('POST', assets, { body: { serial: 'A-8' } })).status === 201)
  })
}
