import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { DeliveryBody, WebhookTestResult } from '@opsplane/contracts'
import { freePort } from '@opsplane/runtime/server-process'
import { testPrincipal } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
  fixture.settings.secrets.set('token', 'very-secret-value')
})
afterAll(() => fixture?.stop())

const ping = (id: string, headers?: Record<string, string>) =>
  fixture.api.post(`/webhooks/${id}/test`, undefined, headers)

describe('a test ping', () => {
  it("is signed, has the headers of a delivery, and returns the endpoint's answer", async () => {
    const webhook = await fixture.webhook(
      'pinged',
      { secret: 'hush', headers: { Authorization: 'Bearer {{secrets.token}}' } },
      ({ headers }) => ({ status: 202, body: `thanks, ${headers.authorization}` }),
    )
    const result = (await ping(webhook.id)).data(WebhookTestResult)
    expect(result).toEqual({ status: 202, latency_ms: expect.any(Number), body: 'thanks, Bearer ***' })
    const [request] = fixture.requestsTo('pinged')
    const body = DeliveryBody.strict().parse(JSON.parse(String(request?.rawBody)))
    expect(body).toMatchObject({ event: 'webhook.test', webhook_id: webhook.id, data: { id: webhook.id } })
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer very-secret-value',
      'x-service-event': 'webhook.test',
      'x-service-delivery': body.id,
      'webhook-id': body.id,
      'x-service-signature-256': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'webhook-signature': expect.stringMatching(/^v1,/),
    })
  })

  it('leaves no delivery and no failure, whatever the endpoint answers, paused or not', async () => {
    const webhook = await fixture.webhook('broken', { status: 'paused' }, () => ({ status: 500, body: 'no' }))
    for (let n = 1; n <= 5; n++)
      expect((await ping(webhook.id)).data(WebhookTestResult)).toMatchObject({ status: 500, body: 'no' })
    const seen = createDeliveryReader(fixture, webhook.id)
    expect(await seen.list()).toEqual([])
    expect(await seen.webhook()).toMatchObject({ consecutive_failures: 0, paused_reason: 'user', version: 1 })
    expect(fixture.requestsTo('broken')).toHaveLength(5)
  })

  it('reports the kind of failure if there is no answer', async () => {
    const slow = await fixture.webhook('slow', { timeout_ms: 100 }, () => ({ status: 200, delayMs: 60_000 }))
    expect((await ping(slow.id)).error()).toMatchObject({
      code: 'upstream_timeout',
      status: 504,
      details: [{ code: 'timeout' }],
    })
    const nowhere = await fixture.webhook('nowhere', { url: 'https://nowhere.invalid/hook' })
    expect((await ping(nowhere.id)).error()).toMatchObject({
      code: 'upstream_error',
      status: 502,
      message: expect.stringContaining('host name could not be resolved'),
      details: [{ in: 'body', path: '/url', code: 'dns' }],
    })
    const refused = await fixture.webhook('refused', {
      url: `https://127.0.0.1:${await freePort()}/hook`,
    })
    expect((await ping(refused.id)).error()).toMatchObject({ status: 502, details: [{ code: 'connect' }] })
  })

  it('is not sent without its secrets', async () => {
    const missing = await fixture.webhook('missing', { headers: { 'X-Api': '{{secrets.absent}}' } })
    expect((await ping(missing.id)).error()).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('absent'),
      details: [{ path: '/headers', code: 'secret_missing' }],
    })
    const waiting = await fixture.webhook('waiting', { headers: { 'X-Api': '{{secrets.other}}' } })
    fixture.settings.up = false
    const reply = await ping(waiting.id)
    fixture.settings.up = true
    expect(reply.error()).toMatchObject({ code: 'service_unavailable' })
    expect([...fixture.requestsTo('missing'), ...fixture.requestsTo('waiting')]).toEqual([])
  })

  it('is sent once for an Idempotency-Key', async () => {
    const webhook = await fixture.webhook('once')
    const key = { 'Idempotency-Key': 'ping-1' }
    const first = await ping(webhook.id, key)
    const again = await ping(webhook.id, key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.data(WebhookTestResult)).toEqual(first.data(WebhookTestResult))
    expect(fixture.requestsTo('once')).toHaveLength(1)
  })

  it("requires webhooks:write, and another workspace's webhook is not found", async () => {
    const webhook = await fixture.webhook('guarded')
    const { workspaceId = '' } = fixture.principal
    const reader = fixture.service.as(testPrincipal({ workspaceId, permissions: ['webhooks:read'] }))
    const stranger = fixture.service.as(testPrincipal())
    const path = `/webhooks/${webhook.id}/test`
    expect((await reader.post(path)).error().code).toBe('insufficient_scope')
    expect((await stranger.post(path)).error().code).toBe('not_found')
    expect(fixture.requestsTo('guarded')).toEqual([])
  })
})
