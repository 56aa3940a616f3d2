import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OpsplaneError } from '@opsplane/client'
import { type ReceivedRequest, type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: ReturnType<typeof typedClient>
let receiver: Receiver

beforeAll(async () => {
  platform = await joinPlatform()
  api = typedClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: ({ path }) => ({ status: path.includes('broken') ? 500 : path.includes('gone') ? 410 : 200 }),
  })
})

afterAll(async () => {
  await receiver?.stop()
})

/** Requests received at a path, each event once, however often it was sent. */
const arrivedAt = (path: string): ReceivedRequest[] => {
  const found = receiver.received().filter((request) => request.path === path)
  return [...new Map(found.map((request) => [request.headers['x-service-delivery'], request])).values()]
}
const eventsAt = (path: string) => arrivedAt(path).map(({ headers }) => String(headers['x-service-event']))

describe('incidents, webhooks and the audit log', () => {
  test('every step of an incident is delivered to a webhook, signed and in shape B', async () => {
    await api.post('/secrets', { body: { name: 'receiver_token', value: 'top-secret-value', hosts: ['*'] } })
    const webhook = await api.post('/webhooks', {
      body: {
        name: 'all incidents',
        url: `${receiver.url}/main`,
        events: ['incident.*'],
        secret: 'a shared secret',
        headers: { Authorization: 'Token {{secrets.receiver_token}}' },
      },
    })
    expect(JSON.stringify(webhook)).not.toContain('a shared secret')

    const created = await api.post('/itsm/incidents', { body: { title: 'Disk full' } })
    expect(created.data).toMatchObject({
      status: 'open',
      severity: 'medium',
      number: expect.stringMatching(/^INC-\d+$/),
    })
    const { user } = (await api.get('/auth/me')).data
    const params = { path: { id: created.data.id } }
    await api.patch('/itsm/incidents/{id}', { params, body: { description: 'Log partition' } })
    await api.patch('/itsm/incidents/{id}', { params, body: { assigneeId: user.id } })
    await api.post('/itsm/incidents/{id}/escalate', { params, body: { severity: 'high' } })
    await api.post('/itsm/incidents/{id}/comments', { params, body: { body: 'Looking at it' } })
    const resolve = (resolutionNotes: string) =>
      api.post('/itsm/incidents/{id}/resolve', { params, body: { resolutionCode: 'fixed', resolutionNotes } })
    await resolve('Rotated the logs')
    await api.post('/itsm/incidents/{id}/reopen', { params, body: { reason: 'Full again' } })
    await resolve('Bigger disk')
    await api.post('/itsm/incidents/{id}/close', { params, body: {} })

    const expected = [
      'incident.created',
      'incident.updated',
      'incident.assigned',
      'incident.escalated',
      'incident.comment_added',
      'incident.resolved',
      'incident.reopened',
      'incident.resolved',
      'incident.closed',
    ]
    await waitFor(() => eventsAt('/main').length >= expected.length)
    expect(eventsAt('/main').sort()).toEqual([...expected].sort())

    for (const delivery of receiver.received().filter((request) => request.path === '/main')) {
      const signature = createHmac('sha256', 'a shared secret').update(delivery.rawBody).digest('hex')
      expect(delivery.headers['x-service-signature-256']).toBe(`sha256=${signature}`)
      expect(delivery.headers.authorization).toBe('Token top-secret-value')
      const body = JSON.parse(delivery.rawBody.toString()) as Record<string, unknown>
      expect(Object.keys(body).sort()).toEqual([
        'data',
        'event',
        'id',
        'timestamp',
        'webhook_id',
        'workspace_id',
      ])
      expect(body).toMatchObject({
        id: delivery.headers['x-service-delivery'],
        event: delivery.headers['x-service-event'],
        webhook_id: webhook.data.id,
        data: { id: created.data.id },
      })
    }
  })

  test('a delivery is readable with its attempts, without revealing secrets', async () => {
    const [webhook] = (await api.get('/webhooks')).data
    const id = String(webhook?.id)
    // A delivery is recorded a moment after it has arrived.
    const deliveries = await waitFor(async () => {
      const query = { status: ['succeeded' as const], limit: 3 }
      const page = await api.get('/webhooks/{id}/deliveries', { params: { path: { id }, query } })
      return page.data.length === 3 && page
    })
    const detail = await api.get('/webhooks/{id}/deliveries/{deliveryId}', {
      params: { path: { id, deliveryId: String(deliveries.data[0]?.id) } },
    })
    expect(detail.data).toMatchObject({ status: 'succeeded', attempts: 1, lastResponseStatus: 200 })
    expect(JSON.stringify(detail)).not.toContain('top-secret-value')
    expect(JSON.stringify(detail)).not.toContain('a shared secret')
  })

  test('only events that match the patterns and the filter of a webhook are delivered', async () => {
    await api.post('/webhooks', {
      body: {
        name: 'critical only',
        url: `${receiver.url}/critical`,
        events: ['incident.created'],
        filter: { 'data.severity': { in: ['critical', 'high'] } },
      },
    })
    await api.post('/itsm/incidents', { body: { title: 'small', severity: 'low' } })
    const big = await api.post('/itsm/incidents', { body: { title: 'big', severity: 'critical' } })
    await waitFor(() => eventsAt('/critical').length >= 1)
    const bodies = arrivedAt('/critical').map(({ rawBody }) => JSON.parse(rawBody.toString()))
    expect(bodies.map(({ data }) => data.id)).toEqual([big.data.id])
  })

  test('a delivery to a broken endpoint is retried and then recorded as failed', async () => {
    const webhook = await api.post('/webhooks', {
      body: { name: 'broken', url: `${receiver.url}/broken`, events: ['incident.created'], retries: 1 },
    })
    await api.post('/itsm/incidents', { body: { title: 'will fail' } })
    const failedOnes = { params: { path: { id: webhook.data.id }, query: { status: ['failed' as const] } } }
    const failed = await waitFor(
      async () => (await api.get('/webhooks/{id}/deliveries', failedOnes)).data[0],
      { intervalMs: 200 },
    )
    expect(failed).toMatchObject({ attempts: 2, lastResponseStatus: 500, eventType: 'incident.created' })
  })

  test('a 410 response pauses the webhook and notifies the admins', async () => {
    const webhook = await api.post('/webhooks', {
      body: { name: 'moved away', url: `${receiver.url}/gone`, events: ['incident.created'] },
    })
    await api.post('/itsm/incidents', { body: { title: 'no subscriber' } })
    const unread = async () =>
      (await api.get('/notifications', { params: { query: { unread: 'true' } } })).data
    const reported = await waitFor(async () => (await unread())[0], { intervalMs: 200 })
    expect(reported).toMatchObject({
      type: 'webhook.paused',
      title: expect.stringContaining('moved away'),
      resource: { type: 'webhook', id: webhook.data.id },
    })
    const read = await api.post('/notifications/{id}/read', { params: { path: { id: reported.id } } })
    expect(read.data.readAt).not.toBeNull()
    expect(await unread()).toEqual([])
  })

  test('the audit log contains the events in shape A', async () => {
    const events = await waitFor(
      async () => {
        const query = { type: 'incident.resolved', limit: 10 }
        const { data } = await api.get('/audit', { params: { query } })
        return data.length >= 2 ? data : undefined
      },
      { intervalMs: 100 },
    )
    expect(events[0]).toMatchObject({
      type: 'incident.resolved',
      actor: { type: 'api_token' },
      resource: { type: 'incident', number: expect.stringMatching(/^INC-/) },
      data: { before: { status: 'in_progress' }, after: { status: 'resolved' } },
    })
    const one = await api.get('/audit/{eventId}', { params: { path: { eventId: String(events[0]?.id) } } })
    expect(one.data.id).toBe(events[0]?.id)
  })

  test('incident numbers increase and are unique across concurrent requests', async () => {
    const create = (title: string) => api.post('/itsm/incidents', { body: { title } })
    const created = await Promise.all(Array.from({ length: 50 }, (_, index) => create(`n${index}`)))
    const numbers = created.map(({ data }) => data.number)
    expect(new Set(numbers).size).toBe(50)
    const next = await create('last')
    const value = (number: unknown) => Number(String(number).slice(4))
    expect(value(next.data.number)).toBeGreaterThan(Math.max(...numbers.map(value)))
  })

  test('50 concurrent requests with one idempotency key create one incident', async () => {
    const send = (title = 'once') =>
      api.raw.POST('/itsm/incidents', {
        params: { header: { 'Idempotency-Key': 'once-key-1' } },
        body: { title },
      })
    const answers = await Promise.all(Array.from({ length: 50 }, () => send()))
    const ids = new Set(answers.flatMap(({ data }) => data?.data.id ?? []))
    expect(ids.size).toBe(1)
    expect(answers.map(({ response }) => response.status)).not.toContain(500)
    const replay = await send()
    expect(replay.response.headers.get('idempotency-replayed')).toBe('true')
    expect(ids).toContain(replay.data?.data.id)
    const other = await send('other')
    expect(other.error).toMatchObject({ error: { code: 'idempotency_key_reused', status: 422 } })
  })

  test('a list is read page by page without duplicates, and an invalid request is rejected with details', async () => {
    const ids: string[] = []
    const query = { limit: 20, sort: 'createdAt' as const }
    for await (const { id } of api.items('/itsm/incidents', { params: { query } })) ids.push(id)
    expect(ids.length).toBeGreaterThan(40)
    expect(new Set(ids).size).toBe(ids.length)
    const refused = await api
      .post('/itsm/incidents', { body: { title: '' } })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpsplaneError)
    expect(refused).toMatchObject({
      code: 'validation_failed',
      status: 422,
      retryable: false,
      details: [expect.objectContaining({ in: 'body', path: '/title' })],
    })
  })
})
