import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { dispatcherEvents, RotatedWebhook, Webhook } from '@opsplane/contracts'
import {
  type EventRecorder,
  type ReceivedRequest,
  recordEvents,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { buildSignatureHeaders } from '../delivery/send/sign.js'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
let recorder: EventRecorder
beforeAll(async () => {
  fixture = await startDispatcher()
  recorder = await recordEvents(fixture.service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await fixture?.stop()
})

const rotate = (id: string, body?: unknown, headers?: Record<string, string>) =>
  fixture.api.post(`/webhooks/${id}/secrets/rotate`, body, headers)

/** Publishes an event and returns the request of its delivery. */
async function delivered(name: string, webhookId: string): Promise<ReceivedRequest> {
  const before = fixture.requestsTo(name).length
  await fixture.publish({ type: `${name}.created` })
  await createDeliveryReader(fixture, webhookId).having('succeeded', before + 1)
  const request = fixture.requestsTo(name).at(-1)
  if (!request) throw new Error('nothing arrived')
  return request
}

/** The signature headers of a request, and the expected ones for these secrets. */
function signatures({ headers, rawBody }: ReceivedRequest, secrets: string[]) {
  const content = {
    messageId: String(headers['webhook-id']),
    timestamp: Number(headers['webhook-timestamp']),
    body: String(rawBody),
  }
  const { 'x-service-signature-256': service, 'webhook-signature': standard } = headers
  const found = { 'x-service-signature-256': service, 'webhook-signature': standard }
  return { found, expected: buildSignatureHeaders(secrets, content) }
}

describe('a rotation of the secret', () => {
  it('signs with the new secret and, during the overlap, with the old ones', async () => {
    const webhook = await fixture.webhook('turned', { secret: 'first' })
    const reply = await rotate(webhook.id)
    const rotated = reply.data(RotatedWebhook)
    expect(reply.status).toBe(200)
    expect(rotated).toMatchObject({ id: webhook.id, has_secret: true, version: 2 })
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Date.parse(rotated.overlap_until ?? '') - Date.parse(rotated.updated_at)).toBe(86_400_000)
    const second = rotated.secret ?? ''
    const twice = signatures(await delivered('turned', webhook.id), [second, 'first'])
    expect(twice.found).toEqual(twice.expected)
    expect(twice.found['webhook-signature']?.toString().split(' ')).toHaveLength(2)
    const byFirst = signatures(await delivered('turned', webhook.id), ['first']).expected
    expect(fixture.requestsTo('turned').at(-1)?.headers).toMatchObject({
      'x-service-signature-256': byFirst['x-service-signature-256'],
    })

    const given = (await rotate(webhook.id, { secret: 'third', overlapSeconds: 600 })).data(RotatedWebhook)
    expect(given.secret).toBeNull()
    const thrice = signatures(await delivered('turned', webhook.id), ['third', second, 'first'])
    expect(thrice.found).toEqual(thrice.expected)

    const last = (await rotate(webhook.id, { overlapSeconds: 0 })).data(RotatedWebhook)
    expect(last.overlap_until).toBeNull()
    const once = signatures(await delivered('turned', webhook.id), [last.secret ?? ''])
    expect(once.found).toEqual(once.expected)
  })

  it('ends the old secret after the overlap', async () => {
    const webhook = await fixture.webhook('lapsing', { secret: 'first' })
    await rotate(webhook.id, { secret: 'second', overlapSeconds: 1 })
    const alone = await waitFor(
      async () => {
        await fixture.api.post(`/webhooks/${webhook.id}/test`)
        const request = fixture.requestsTo('lapsing').at(-1)
        return request?.headers['webhook-signature']?.includes(' ') === false && request
      },
      { message: 'a request signed once' },
    )
    const { found, expected } = signatures(alone, ['second'])
    expect(found).toEqual(expected)
  })

  it('creates the first secret of a webhook without one', async () => {
    const webhook = await fixture.webhook('unsigned')
    const { secret, has_secret } = (await rotate(webhook.id)).data(RotatedWebhook)
    expect(has_secret).toBe(true)
    const { found, expected } = signatures(await delivered('unsigned', webhook.id), [secret ?? ''])
    expect(found).toEqual(expected)
  })

  it('emits an event without the secret, and shows the secret only once', async () => {
    const webhook = await fixture.webhook('quiet', { secret: 'first-secret' })
    const key = { 'Idempotency-Key': 'rotate-1' }
    const rotated = (await rotate(webhook.id, {}, key)).data(RotatedWebhook)
    const again = await rotate(webhook.id, {}, key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.data(RotatedWebhook)).toEqual({ ...rotated, secret: null })
    const event = await waitFor(
      () =>
        recorder.published.find(
          ({ event: { type, resource } }) => type === 'webhook.secret_rotated' && resource.id === webhook.id,
        )?.event,
    )
    expect(dispatcherEvents['webhook.secret_rotated'].data.safeParse(event.data).error).toBeUndefined()
    expect(event.data).toMatchObject({ overlapUntil: rotated.overlap_until, changes: ['updated_at'] })
    const read = await fixture.api.get(`/webhooks/${webhook.id}`)
    expect(read.data(Webhook).version).toBe(2)
    expect(`${JSON.stringify(event)}${read.text}`).not.toContain(rotated.secret)
    const kept = await fixture.service.sql<{ found: string }[]>`
      select row_to_json(w)::text as found from webhooks w
      union all select row_to_json(e)::text from events e
      union all select row_to_json(k)::text from idempotency_keys k
      union all select row_to_json(a)::text from delivery_attempts a`
    for (const { found } of kept) {
      expect(found).not.toContain((rotated.secret ?? 'none').slice('whsec_'.length, -2))
      expect(found).not.toContain('first-secret')
    }
  })

  it.each([
    { overlapSeconds: -1 },
    { overlapSeconds: 604_801 },
    { secret: '' },
    { secret: null },
    { other: 1 },
  ])('rejects %j', async (body) => {
    const webhook = await fixture.webhook('strict')
    expect((await rotate(webhook.id, body)).error().code).toBe('validation_failed')
  })

  it('requires webhooks:write, the current version if one is named, and a webhook of the workspace', async () => {
    const webhook = await fixture.webhook('guarded')
    const { workspaceId = '' } = fixture.principal
    const reader = fixture.service.as(testPrincipal({ workspaceId, permissions: ['webhooks:read'] }))
    const path = `/webhooks/${webhook.id}/secrets/rotate`
    expect((await reader.post(path)).error().code).toBe('insufficient_scope')
    expect((await fixture.service.as(testPrincipal()).post(path)).error().code).toBe('not_found')
    const stale = await rotate(webhook.id, {}, { 'If-Match': '"7"' })
    expect(stale.error().code).toBe('precondition_failed')
    expect((await fixture.api.get(`/webhooks/${webhook.id}`)).data(Webhook).has_secret).toBe(false)
  })
})
