import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: ReturnType<typeof typedClient>
let receiver: Receiver
let isAway = false

beforeAll(async () => {
  platform = await joinPlatform()
  api = typedClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: ({ path, headers }) => {
      if (path.startsWith('/hook')) return { status: 200 }
      if (isAway) return { status: 503 }
      return { status: 200, body: JSON.stringify({ echoed: headers.authorization }) }
    },
  })
  await api.post('/secrets', { body: { name: 'api_token', value: 'tok-3141592653', hosts: ['127.0.0.1'] } })
})
afterAll(async () => {
  await receiver?.stop()
})

interface Reported {
  id: string
  event: string
  data: { status: string }
}
/** Each event once, however often it was sent. */
const reported = (): Reported[] => {
  const sent = receiver
    .received()
    .filter(({ path }) => path === '/hook')
    .map(({ rawBody }) => JSON.parse(rawBody.toString()) as Reported)
  return [...new Map(sent.map((each) => [each.id, each])).values()]
}

test('a webhook receives each status change of a connector, and the secret of the connector is not revealed', async () => {
  const body = { name: 'connectors', url: `${receiver.url}/hook`, events: ['connector.*'] }
  await api.post('/webhooks', { body })
  const config = { baseUrl: `${receiver.url}/api`, auth: { type: 'bearer', token: '{{secrets.api_token}}' } }
  const { data: made } = await api.post('/connectors', { body: { name: 'billing', kind: 'http', config } })
  const params = { path: { id: made.id } }
  const invoked = await api.post('/connectors/{id}/invoke', { params, body: { action: 'get' } })
  expect(invoked.data.output).toMatchObject({ status: 200, body: '{"echoed":"Bearer ***"}' })
  expect(receiver.received().find(({ path }) => path === '/api')?.headers.authorization).toBe(
    'Bearer tok-3141592653',
  )

  const statusOf = async () => (await api.get('/connectors/{id}', { params })).data.status
  isAway = true
  await waitFor(async () => (await statusOf()) === 'down')
  isAway = false
  await waitFor(async () => (await statusOf()) === 'up')
  await api.patch('/connectors/{id}', { params, body: { description: 'the last event' } })
  await waitFor(() => reported().some(({ event }) => event === 'connector.updated'))
  await waitFor(() => reported().length >= 5)
  const statuses = reported().filter(({ event }) => event === 'connector.status_changed')
  expect(statuses.map(({ data }) => data.status).sort()).toEqual(['down', 'up', 'up'])
  const events = reported().map(({ event }) => event)
  expect(events.sort()).toEqual([
    'connector.created',
    ...Array<string>(3).fill('connector.status_changed'),
    'connector.updated',
  ])
  const everything = receiver.received().filter(({ path }) => path === '/hook')
  expect(everything.map(({ rawBody }) => rawBody.toString()).join()).not.toContain('tok-3141592653')
  const { uses } = (await api.get('/secrets/{name}', { params: { path: { name: 'api_token' } } })).data
  expect(uses).toMatchObject([
    { consumer: `connector/${made.id}`, service: 'integrations', host: '127.0.0.1' },
  ])
})

test('a topic connector publishes with the rights of the invoker, and once for each idempotency key', async () => {
  const body = { name: 'bus', kind: 'topic', config: { topics: ['orders.created'] } }
  const { data: bus } = await api.post('/connectors', { body })
  const publish = (topic: string) => ({
    params: { path: { id: bus.id } },
    body: { action: 'publish', input: { topic, type: 'order.created', payload: { amount: 5 } } },
  })
  const key = { headers: { 'idempotency-key': 'order-1' } }
  const first = await api.post('/connectors/{id}/invoke', { ...publish('orders.created'), ...key })
  const again = await api.post('/connectors/{id}/invoke', { ...publish('orders.created'), ...key })
  expect(again.data).toEqual(first.data)
  const params = { path: { name: 'orders.created' } }
  const { data: events } = await api.get('/events/topics/{name}/events', { params })
  expect(events).toMatchObject([{ type: 'order.created', payload: { amount: 5 } }])
  await expect(api.post('/connectors/{id}/invoke', publish('orders.deleted'))).rejects.toMatchObject({
    code: 'forbidden',
  })
  const { data: key2 } = await api.post('/auth/tokens', {
    body: { name: 'invokes only', scopes: ['connectors:invoke'] },
  })
  const limited = typedClient({ ...platform.info, apiKey: String(key2.token) })
  await expect(limited.post('/connectors/{id}/invoke', publish('orders.created'))).rejects.toMatchObject({
    code: 'insufficient_scope',
  })
})
