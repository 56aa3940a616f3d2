import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient, startTestCluster } from './platform.js'

interface Resource {
  data: { id: string; number?: string; status?: string; version?: number; [field: string]: unknown }
}
interface List {
  data: Record<string, unknown>[]
  pagination: { nextCursor: string | null; hasMore: boolean; limit: number }
}

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver

beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: ({ path }) => ({ status: path.includes('broken') ? 500 : path.includes('gone') ? 410 : 200 }),
  })
}, 120_000)

afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
}, 60_000)

const eventsAt = (path: string) =>
  receiver
    .received()
    .filter((request) => request.path === path)
    .map((request) => String(request.headers['x-service-event']))

describe('the main job', () => {
  test('every step of an incident arrives signed and in shape B', async () => {
    await api('POST', '/secrets', { body: { name: 'receiver_token', value: 'top-secret-value' } })
    const webhook = await api<Resource>('POST', '/webhooks', {
      body: {
        name: 'all incidents',
        url: `${receiver.url}/main`,
        events: ['incident.*'],
        secret: 'a shared secret',
        headers: { Authorization: 'Token {{secrets.receiver_token}}' },
      },
    })
    expect(webhook.status).toBe(201)
    expect(JSON.stringify(webhook.body)).not.toContain('a shared secret')

    const created = await api<Resource>('POST', '/itsm/incidents', { body: { title: 'Disk full' } })
    expect(created.status).toBe(201)
    expect(created.body.data).toMatchObject({
      status: 'open',
      severity: 'medium',
      number: expect.stringMatching(/^INC-\d+$/),
    })
    const path = `/itsm/incidents/${created.body.data.id}`
    const user = (await api<{ data: { user: { id: string } } }>('GET', '/auth/me')).body.data.user
    await api('PATCH', path, { body: { description: 'Log partition' } })
    await api('PATCH', path, { body: { assigneeId: user.id } })
    await api('POST', `${path}/escalate`, { body: { severity: 'high' } })
    await api('POST', `${path}/comments`, { body: { body: 'Looking at it' } })
    await api('POST', `${path}/resolve`, {
      body: { resolutionCode: 'fixed', resolutionNotes: 'Rotated the logs' },
    })
    await api('POST', `${path}/reopen`, { body: { reason: 'Full again' } })
    await api('POST', `${path}/resolve`, {
      body: { resolutionCode: 'fixed', resolutionNotes: 'Bigger disk' },
    })
    await api('POST', `${path}/close`, { body: {} })

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
    await waitFor(() => eventsAt('/main').length >= expected.length, { timeoutMs: 20_000 })
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
        webhook_id: webhook.body.data.id,
        data: { id: created.body.data.id },
      })
    }
  })

  test('a delivery can be read with its attempts, and secrets do not show', async () => {
    const [webhook] = (await api<List>('GET', '/webhooks')).body.data
    const deliveries = await api<List>('GET', `/webhooks/${webhook?.id}/deliveries?status=succeeded&limit=3`)
    expect(deliveries.body.data).toHaveLength(3)
    const detail = await api<Resource>(
      'GET',
      `/webhooks/${webhook?.id}/deliveries/${deliveries.body.data[0]?.id}`,
    )
    expect(detail.status).toBe(200)
    expect(detail.body.data).toMatchObject({ status: 'succeeded', attempts: 1, lastResponseStatus: 200 })
    expect(JSON.stringify(detail.body)).not.toContain('top-secret-value')
    expect(JSON.stringify(detail.body)).not.toContain('a shared secret')
  })

  test('filters and wildcards choose what is delivered', async () => {
    await api('POST', '/webhooks', {
      body: {
        name: 'critical only',
        url: `${receiver.url}/critical`,
        events: ['incident.created'],
        filter: { 'data.severity': { in: ['critical', 'high'] } },
      },
    })
    await api('POST', '/itsm/incidents', { body: { title: 'small', severity: 'low' } })
    const big = await api<Resource>('POST', '/itsm/incidents', {
      body: { title: 'big', severity: 'critical' },
    })
    await waitFor(() => eventsAt('/critical').length >= 1, { timeoutMs: 10_000 })
    const bodies = receiver.received().filter((request) => request.path === '/critical')
    expect(bodies.map((request) => JSON.parse(request.rawBody.toString()).data.id)).toEqual([
      big.body.data.id,
    ])
  })

  test('a broken endpoint is retried, and the failure is on record', async () => {
    const webhook = await api<Resource>('POST', '/webhooks', {
      body: { name: 'broken', url: `${receiver.url}/broken`, events: ['incident.created'], retries: 1 },
    })
    await api('POST', '/itsm/incidents', { body: { title: 'will fail' } })
    const failed = await waitFor(
      async () =>
        (await api<List>('GET', `/webhooks/${webhook.body.data.id}/deliveries?status=failed`)).body.data[0],
      { timeoutMs: 20_000, intervalMs: 200 },
    )
    expect(failed).toMatchObject({ attempts: 2, lastResponseStatus: 500, eventType: 'incident.created' })
  })

  test('an endpoint that is gone pauses its webhook, and the admins are told', async () => {
    const webhook = await api<Resource>('POST', '/webhooks', {
      body: { name: 'moved away', url: `${receiver.url}/gone`, events: ['incident.created'] },
    })
    await api('POST', '/itsm/incidents', { body: { title: 'nobody hears' } })
    const told = await waitFor(
      async () => (await api<List>('GET', '/notifications?unread=true')).body.data[0],
      { timeoutMs: 20_000, intervalMs: 200 },
    )
    expect(told).toMatchObject({
      type: 'webhook.paused',
      title: expect.stringContaining('moved away'),
      resource: { type: 'webhook', id: webhook.body.data.id },
    })
    expect((await api<Resource>('POST', `/notifications/${told.id}/read`)).body.data.readAt).not.toBeNull()
    expect((await api<List>('GET', '/notifications?unread=true')).body.data).toEqual([])
  })

  test('everything is in the audit log, in shape A', async () => {
    const events = await waitFor(
      async () => {
        const list = await api<List>('GET', '/audit?type=incident.resolved&limit=10')
        return list.body.data.length >= 2 ? list.body.data : undefined
      },
      { timeoutMs: 10_000, intervalMs: 100 },
    )
    expect(events[0]).toMatchObject({
      type: 'incident.resolved',
      actor: { type: 'api_token' },
      resource: { type: 'incident', number: expect.stringMatching(/^INC-/) },
      data: { before: { status: 'in_progress' }, after: { status: 'resolved' } },
    })
    const one = await api<Resource>('GET', `/audit/${events[0]?.id}`)
    expect(one.body.data.id).toBe(events[0]?.id)
  })

  test('numbers increase and are never given twice', async () => {
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        api<Resource>('POST', '/itsm/incidents', { body: { title: `n${index}` } }),
      ),
    )
    const numbers = created.map((answer) => answer.body.data.number)
    expect(new Set(numbers).size).toBe(50)
    const next = await api<Resource>('POST', '/itsm/incidents', { body: { title: 'last' } })
    const value = (number: unknown) => Number(String(number).slice(4))
    expect(value(next.body.data.number)).toBeGreaterThan(Math.max(...numbers.map(value)))
  })

  test('an idempotency key makes fifty requests one', async () => {
    const send = () =>
      api<Resource>('POST', '/itsm/incidents', {
        body: { title: 'once' },
        headers: { 'idempotency-key': 'once-key-1' },
      })
    const answers = await Promise.all(Array.from({ length: 50 }, send))
    const ids = new Set(
      answers.filter((answer) => answer.status === 201).map((answer) => answer.body.data.id),
    )
    expect(ids.size).toBe(1)
    expect(new Set(answers.map((answer) => answer.status))).not.toContain(500)
    const replay = await send()
    expect(replay.headers['idempotency-replayed']).toBe('true')
    expect(ids).toContain(replay.body.data.id)
    const other = await api('POST', '/itsm/incidents', {
      body: { title: 'other' },
      headers: { 'idempotency-key': 'once-key-1' },
    })
    expect(other.body).toMatchObject({ error: { code: 'idempotency_key_reused', status: 422 } })
  })
})
