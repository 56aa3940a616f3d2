import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Webhook } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
  fixture.settings.secrets.set('token', 'very-secret-value')
})
afterAll(() => fixture?.stop())

describe('secrets', () => {
  it('are resolved in requests and redacted in stored data', async () => {
    const webhook = await fixture.webhook(
      'templated',
      {
        headers: {
          Authorization: 'Bearer {{secrets.token}}',
          'X-Api-Key': 'literal-key',
          'X-Plain': 'plain',
        },
      },
      ({ headers }) => ({
        status: 200,
        headers: { 'x-echo': String(headers.authorization) },
        body: `you sent ${headers.authorization} and ${headers['x-api-key']}`,
      }),
    )
    expect(webhook.headers).toEqual({
      Authorization: 'Bearer {{secrets.token}}',
      'X-Api-Key': '***',
      'X-Plain': 'plain',
    })
    await fixture.publish({ type: 'templated.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('succeeded', 1)
    expect(fixture.requestsTo('templated')[0]?.headers).toMatchObject({
      authorization: 'Bearer very-secret-value',
      'x-api-key': 'literal-key',
      'x-plain': 'plain',
    })
    const detail = await seen.detail(delivery?.id ?? '')
    expect(detail.request?.headers).toMatchObject({
      Authorization: 'Bearer ***',
      'X-Api-Key': '***',
      'X-Plain': 'plain',
    })
    expect(detail.response).toMatchObject({ body: 'you sent Bearer *** and ***' })
    expect(detail.response?.headers['x-echo']).toBe('Bearer ***')
    expect(JSON.stringify(detail)).not.toMatch(/very-secret-value|literal-key/)
  })

  it('are never stored in plain text', async () => {
    await fixture.webhook('sealed', { secret: 'signing-secret', headers: { Cookie: 'session-cookie' } })
    const rows = await fixture.service.sql`
      select 'row' from webhooks where state::text ~ 'signing-secret|session-cookie|literal-key'
      union all select 'event' from events where (data::text || coalesce(sealed::text, '')) ~ 'signing-secret|session-cookie'
      union all select 'attempt' from delivery_attempts a where a::text ~ 'very-secret-value|literal-key'`
    expect([...rows]).toEqual([])
  })

  it('that do not exist fail the attempt, and are named in the error', async () => {
    const webhook = await fixture.webhook('unknown', {
      retries: 0,
      headers: { 'X-A': '{{secrets.missing}}' },
    })
    await fixture.publish({ type: 'unknown.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(delivery?.lastError).toMatchObject({
      kind: 'secret_missing',
      message: expect.stringContaining('missing'),
    })
    expect(fixture.requestsTo('unknown')).toEqual([])
  })

  it.each<[string, Record<string, string>, string]>([
    ['one header', { 'X-A': '{{secrets.long}}'.repeat(200) }, 'the header X-A'],
    [
      'all of them',
      Object.fromEntries([...'ABCDEFGHIJ'].map((n) => [`X-${n}`, '{{secrets.long}}'.repeat(80)])),
      'all headers',
    ],
  ])('that make %s larger than the limit fail the attempt', async (name, headers, reported) => {
    fixture.settings.secrets.set('long', 'x'.repeat(100))
    const type = name.replaceAll(' ', '_')
    const webhook = await fixture.webhook(type, { retries: 0, headers })
    await fixture.publish({ type: `${type}.created` })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(delivery?.lastError).toMatchObject({
      kind: 'headers_too_large',
      message: expect.stringContaining(reported),
    })
    expect(fixture.requestsTo(type)).toEqual([])
  })

  it('do not exempt literal headers from their size limit', async () => {
    const headers = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`X-${n}`, 'x'.repeat(4_096)]))
    const body = { name: 'wide', url: fixture.endpoint('wide'), events: ['wide.*'], headers }
    expect((await fixture.api.post('/webhooks', body)).error()).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/headers' }],
    })
  })

  it('that a header cannot contain fail the attempt, and are not disclosed', async () => {
    fixture.settings.secrets.set('lines', 'first-line\nsecond-line')
    const webhook = await fixture.webhook('lines', { retries: 0, headers: { 'X-A': '{{secrets.lines}}' } })
    await fixture.publish({ type: 'lines.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(delivery?.lastError).toMatchObject({
      kind: 'secret_refused',
      message: expect.stringContaining('The secret lines cannot be sent in the header X-A'),
    })
    expect(JSON.stringify(delivery)).not.toMatch(/first-line|second-line/)
    expect(fixture.requestsTo('lines')).toEqual([])
  })

  it('that cannot be resolved now postpone the attempt, without a failure of the endpoint', async () => {
    const webhook = await fixture.webhook('unasked', { retries: 0, headers: { 'X-A': '{{secrets.fresh}}' } })
    fixture.settings.up = false
    await fixture.publish({ type: 'unasked.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await waitFor(async () => {
      const items = await seen.list()
      return items[0]?.nextAttemptAt ? items : undefined
    })
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0 })
    fixture.settings.secrets.set('fresh', 'fresh-value')
    fixture.settings.up = true
    await seen.having('succeeded', 1)
    expect(fixture.requestsTo('unasked')[0]?.headers['x-a']).toBe('fresh-value')
    expect(await seen.webhook()).toMatchObject({ consecutive_failures: 0 })
  })

  it('are kept when all other settings change', async () => {
    const webhook = await fixture.webhook('kept', { secret: 'hush', headers: { 'X-Api-Key': 'literal-key' } })
    const changed = await fixture.api.patch(`/webhooks/${webhook.id}`, {
      name: 'Kept',
      headers: { ...webhook.headers, 'X-More': '1' },
    })
    expect(changed.data(Webhook)).toMatchObject({
      has_secret: true,
      headers: { 'X-Api-Key': '***', 'X-More': '1' },
    })
    await fixture.publish({ type: 'kept.created' })
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    const [request] = fixture.requestsTo('kept')
    expect(request?.headers).toMatchObject({ 'x-api-key': 'literal-key', 'x-more': '1' })
    expect(request?.headers['x-service-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/)
  })
})
