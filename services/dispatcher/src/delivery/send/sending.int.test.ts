import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { causeHeader, createCauseVerifier } from '@opsplane/http'
import { testKeys, waitUntilSettled } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

const run = newId('run')
const quickly = { retry_schedule: [1] }

describe('a delivery', () => {
  it('arrives once, signed, with the documented body, and is recorded', async () => {
    const webhook = await fixture.webhook('signed', { secret: 'hush' })
    const event = await fixture.publish({ type: 'signed.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('succeeded', 1)

    const [request, ...others] = fixture.requestsTo('signed')
    if (!request || !delivery) throw new Error('nothing arrived')
    expect(others).toEqual([])
    expect(JSON.parse(request.rawBody.toString())).toEqual({
      id: event.id,
      webhook_id: webhook.id,
      event: 'signed.created',
      timestamp: event.createdAt,
      workspace_id: event.workspaceId,
      data: { ...event.data.after, version: event.version },
    })
    const { headers } = request
    const hmac = (text: string | Buffer) => createHmac('sha256', 'hush').update(text)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Opsplane-Webhooks/1',
      'x-service-delivery': event.id,
      'x-service-event': 'signed.created',
      'x-service-signature-256': `sha256=${hmac(request.rawBody).digest('hex')}`,
      'webhook-id': event.id,
    })
    const signed = `${event.id}.${String(headers['webhook-timestamp'])}.${request.rawBody.toString()}`
    expect(headers['webhook-signature']).toBe(`v1,${hmac(signed).digest('base64')}`)

    expect(delivery).toMatchObject({
      eventId: event.id,
      eventType: 'signed.created',
      url: webhook.url,
      attempts: 1,
      lastResponseStatus: 200,
      lastResponseBody: 'ok',
      lastError: null,
      nextAttemptAt: null,
    })
    const detail = await seen.detail(delivery.id)
    expect(detail.request?.body).toBe(request.rawBody.toString())
    expect(detail.response).toMatchObject({ status: 200, body: 'ok', truncated: false })
    expect(detail.attemptLog).toHaveLength(1)
  })

  it.each<[string, string | null, string | null]>([
    ['run', run, run],
    ['event', newId('event'), null],
    ['nothing', null, null],
  ])(
    'carries the signed cause of its event on every attempt, if the cause is a run: %s',
    async (kind, causationId, cause) => {
      const path = `caused_${kind}`
      const webhook = await fixture.webhook(path, quickly, (_request, count) => ({
        status: count === 1 ? 500 : 204,
      }))
      await fixture.publish({ type: `${path}.created`, causationId })
      await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
      const verify = createCauseVerifier({ dispatcher: testKeys('dispatcher').publicKey })
      const named = fixture.requestsTo(path).map(({ headers }) => verify(headers[causeHeader]?.toString()))
      expect(named).toEqual([cause, cause])
    },
  )

  it('is retried after a failure with the same body and message id', async () => {
    const webhook = await fixture.webhook('flaky', quickly, (_request, count) =>
      count === 1 ? { status: 500, body: 'not yet' } : { status: 204 },
    )
    await fixture.publish({ type: 'flaky.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('succeeded', 1)
    const { attemptLog } = await seen.detail(delivery?.id ?? '')
    expect(attemptLog.map(({ number, response, error }) => [number, response?.status, error?.kind])).toEqual([
      [1, 500, 'status'],
      [2, 204, undefined],
    ])
    const [first, second] = fixture.requestsTo('flaky')
    expect(second?.rawBody).toEqual(first?.rawBody)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    const waited = (second?.receivedAt.getTime() ?? 0) - (first?.receivedAt.getTime() ?? 0)
    expect(waited).toBeGreaterThanOrEqual(1_000)
  })

  it('fails after its last retry', async () => {
    const webhook = await fixture.webhook('broken', { ...quickly, retries: 1 }, () => ({
      status: 503,
      body: 'no',
    }))
    await fixture.publish({ type: 'broken.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('failed', 1)
    expect(delivery).toMatchObject({ attempts: 2, lastResponseStatus: 503, lastResponseBody: 'no' })
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 1 })
    expect(fixture.requestsTo('broken')).toHaveLength(2)
  })

  it('treats an answer after the timeout as no answer', async () => {
    const webhook = await fixture.webhook('slow', { retries: 0, timeout_ms: 200 }, () => ({
      status: 200,
      delayMs: 5_000,
    }))
    await fixture.publish({ type: 'slow.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(delivery).toMatchObject({ lastResponseStatus: null, lastError: { kind: 'timeout' } })
  })

  it('does not follow a redirect', async () => {
    const webhook = await fixture.webhook('moved', { retries: 0 }, () => ({
      status: 307,
      headers: { location: fixture.endpoint('elsewhere') },
    }))
    await fixture.publish({ type: 'moved.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(delivery?.lastResponseStatus).toBe(307)
    expect(fixture.requestsTo('elsewhere')).toEqual([])
  })

  it('stores 64 KiB of the answer', async () => {
    const webhook = await fixture.webhook('talker', {}, () => ({
      status: 200,
      body: '\u00e9'.repeat(100_000),
    }))
    await fixture.publish({ type: 'talker.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('succeeded', 1)
    const { response } = await seen.detail(delivery?.id ?? '')
    expect(response?.truncated).toBe(true)
    expect(Buffer.byteLength(response?.body ?? '')).toBe(64 * 1024)
  })

  it('stores an answer with characters that Postgres rejects', async () => {
    const webhook = await fixture.webhook('binary', {}, () => ({ status: 200, body: 'a\u0000b' }))
    await fixture.publish({ type: 'binary.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    expect(delivery?.lastResponseBody).toBe('a\ufffdb')
  })

  it('is created once, however often its event arrives', async () => {
    const webhook = await fixture.webhook('again')
    const event = await fixture.publish({ type: 'again.created' })
    await fixture.publish(event)
    const marker = await fixture.publish({ type: 'again.updated' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const items = await seen.having('succeeded', 2)
    expect(items.map(({ eventId }) => eventId).sort()).toEqual([event.id, marker.id].sort())
    expect(fixture.requestsTo('again')).toHaveLength(2)
  })

  it('is sent only in its own workspace and environment', async () => {
    const webhook = await fixture.webhook('mine', { filter: { 'data.severity': 'critical' } })
    await fixture.publish({ type: 'mine.created', workspaceId: 'ws_other' })
    await fixture.publish({ type: 'mine.created', environment: 'staging' })
    await fixture.publish({
      type: 'mine.created',
      data: { before: null, after: { severity: 'low' }, changes: [] },
    })
    const event = await fixture.publish({ type: 'mine.created' })
    const items = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    expect(items[0]?.eventId).toBe(event.id)
    expect(fixture.requestsTo('mine')).toHaveLength(1)
  })

  it('of an event about another webhook is sent, and about its own webhook never', async () => {
    // Otherwise the watcher would also receive events of webhooks created before it.
    await waitUntilSettled(fixture.service)
    const watcher = await fixture.webhook('watcher', { events: ['webhook.*'] })
    const other = await fixture.webhook('watched')
    await fixture.api.patch(`/webhooks/${watcher.id}`, { name: 'Renamed' })
    await fixture.api.patch(`/webhooks/${other.id}`, { name: 'Renamed too' })
    await createDeliveryReader(fixture, watcher.id).having('succeeded', 2)
    expect(await createDeliveryReader(fixture, watcher.id).list()).toHaveLength(2)
    const about = fixture.requestsTo('watcher').map(({ rawBody }) => JSON.parse(rawBody.toString()))
    expect(about.map(({ event, data }) => [event, data.id]).sort()).toEqual([
      ['webhook.created', other.id],
      ['webhook.updated', other.id],
    ])
  })
})

describe('many deliveries', () => {
  it('that exceed the memory all arrive, and one slow endpoint delays no other', async () => {
    const slow = await fixture.webhook('tarpit', { timeout_ms: 60_000, events: ['burst.*'] }, () => ({
      status: 200,
      delayMs: 600_000,
    }))
    const quick = await fixture.webhook('burst')
    const published = await Promise.all(
      Array.from({ length: 150 }, () => fixture.publish({ type: 'burst.created' })),
    )
    const delivered = await createDeliveryReader(fixture, quick.id).having('succeeded', 150)
    expect(new Set(delivered.map(({ eventId }) => eventId))).toEqual(new Set(published.map(({ id }) => id)))
    const waiting = await createDeliveryReader(fixture, slow.id).list('?status=pending&limit=200')
    expect(waiting).toHaveLength(150)
    await fixture.api.send('DELETE', `/webhooks/${slow.id}`)
  })
})
