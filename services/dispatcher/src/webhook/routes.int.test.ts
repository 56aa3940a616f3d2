import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, DeliveryDetail, matchesSomeEvent, newId, Webhook } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher({ env: { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' } })
})
afterAll(() => fixture?.stop())

const minimal = { name: 'Hook', url: 'https://example.invalid/hook', events: ['incident.*'] }

describe('webhook routes', () => {
  it('create with the documented defaults, and never show the secret', async () => {
    const reply = await fixture.api.post('/webhooks', { ...minimal, secret: 'hush' })
    expect(reply.status).toBe(201)
    const created = reply.data(Webhook)
    expect(created).toEqual({
      ...minimal,
      id: created.id,
      has_secret: true,
      headers: {},
      filter: null,
      retries: 3,
      retry_strategy: 'exponential',
      timeout_ms: 10_000,
      retry_max_delay_ms: 3_600_000,
      retry_schedule: null,
      rate_limit_per_second: null,
      ordering_key: null,
      status: 'active',
      paused_reason: null,
      owner_id: fixture.principal.userId,
      required_permissions: ['itsm:read'],
      environment: 'production',
      consecutive_failures: 0,
      created_at: created.created_at,
      updated_at: created.created_at,
      version: 1,
    })
    expect(reply.text).not.toContain('hush')
    const read = await fixture.api.get(`/webhooks/${created.id}`)
    expect(read.data(Webhook)).toEqual(created)
    expect(read.headers.get('etag')).toBe('"1"')
  })

  it('reject a subscription that matches no existing event, and suggest the nearest', async () => {
    const own = await startDispatcher({ overrides: { matchesSomeEvent } })
    const events = ['incident.*', 'incident.craeted', 'workflows.*']
    const refused = (await own.api.post('/webhooks', { ...minimal, events })).error()
    expect([refused.status, refused.details.map(({ path, params }) => [path, params?.nearest])]).toEqual([
      422,
      [
        ['/events/1', 'incident.created'],
        ['/events/2', 'workflow.*'],
      ],
    ])
    const { id } = (await own.api.post('/webhooks', minimal)).data(Webhook)
    expect((await own.api.patch(`/webhooks/${id}`, { events })).error().code).toBe('validation_failed')
    expect((await own.api.patch(`/webhooks/${id}`, { events: ['audit.*', '*'] })).status).toBe(200)
    await own.stop()
  })

  it('accept the camelCase aliases, and reject contradictory ones', async () => {
    const aliases = { retryStrategy: 'fixed', timeoutMs: 500, retryMaxDelayMs: 9_000 }
    const created = (await fixture.api.post('/webhooks', { ...minimal, ...aliases })).data(Webhook)
    expect(created).toMatchObject({ retry_strategy: 'fixed', timeout_ms: 500, retry_max_delay_ms: 9_000 })
    const refused = await fixture.api.post('/webhooks', { ...minimal, timeoutMs: 500, timeout_ms: 600 })
    expect(refused.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/timeoutMs' }] })
  })

  it.each([
    ['http://example.invalid', 'https_required'],
    ['https://10.0.0.1/', 'blocked_address'],
    ['https://169.254.169.254/latest/meta-data', 'blocked_address'],
    ['https://[::1]/', 'blocked_address'],
    ['https://a:b@example.invalid/', 'credentials_in_url'],
    ['not a url', 'invalid_url'],
  ])('reject %s, at creation and in a patch', async (url, code) => {
    const details = [{ in: 'body', path: '/url', code, message: expect.any(String) }]
    const refused = await fixture.api.post('/webhooks', { ...minimal, url })
    expect(refused.status).toBe(422)
    expect(refused.error().details).toEqual(details)
    const { id } = (await fixture.api.post('/webhooks', minimal)).data(Webhook)
    expect((await fixture.api.patch(`/webhooks/${id}`, { url })).error().details).toEqual(details)
  })

  it('update a webhook, honour If-Match, and delete it', async () => {
    const { id } = (await fixture.api.post('/webhooks', minimal)).data(Webhook)
    const path = `/webhooks/${id}`
    const renamed = await fixture.api.patch(path, { name: 'New', filter: { 'data.severity': 'low' } })
    expect(renamed.data(Webhook)).toMatchObject({
      name: 'New',
      filter: { 'data.severity': 'low' },
      version: 2,
    })
    const stale = await fixture.api.patch(path, { name: 'Newer' }, { 'if-match': '"1"' })
    expect(stale.error().code).toBe('precondition_failed')
    expect((await fixture.api.send('DELETE', path)).status).toBe(204)
    expect((await fixture.api.get(path)).status).toBe(404)
    expect((await fixture.api.get(`${path}/deliveries`)).status).toBe(404)
  })

  it('answer a repeated create with the same webhook', async () => {
    const key = { 'idempotency-key': newId('request') }
    const [first, second] = [
      await fixture.api.post('/webhooks', minimal, key),
      await fixture.api.post('/webhooks', minimal, key),
    ]
    expect(second?.data(Webhook)).toEqual(first?.data(Webhook))
    expect(second?.headers.get('idempotency-replayed')).toBe('true')
  })

  it('list, page and filter webhooks', async () => {
    const api = fixture.service.as(testPrincipal())
    for (const name of ['a', 'b', 'c'])
      await api.post('/webhooks', { ...minimal, name, status: name === 'b' ? 'paused' : 'active' })
    const first = (await api.get('/webhooks?limit=2')).page(Webhook)
    expect(first.items.map(({ name }) => name)).toEqual(['c', 'b'])
    const rest = await api.get(`/webhooks?limit=2&after=${first.pagination.nextCursor}`)
    expect(rest.page(Webhook)).toMatchObject({ items: [{ name: 'a' }], pagination: { hasMore: false } })
    expect((await api.get('/webhooks?status=paused')).page(Webhook).items.map(({ name }) => name)).toEqual([
      'b',
    ])
  })

  it('page deliveries by delivery id', async () => {
    const webhook = await fixture.webhook('paged')
    for (const _ of [1, 2, 3]) await fixture.publish({ type: 'paged.created' })
    await fixture.publish({ type: 'paged.updated' })
    const { path, having, list } = createDeliveryReader(fixture, webhook.id)
    await having('succeeded', 4)
    const first = (await fixture.api.get(`${path}?limit=3`)).page(Delivery)
    expect(first.pagination).toMatchObject({ hasMore: true, nextCursor: first.items.at(-1)?.id })
    const second = await list(`?limit=3&after=${first.pagination.nextCursor}`)
    expect([...first.items, ...second].map(({ id }) => id)).toEqual((await list()).map(({ id }) => id))
    expect(await list('?eventType=paged.updated')).toHaveLength(1)
    expect(await list('?status=failed')).toEqual([])
    expect((await fixture.api.get(`${path}?after=nonsense`)).error().code).toBe('invalid_cursor')
    expect((await fixture.api.get(`${path}?status=lost`)).status).toBe(422)
  })
})

describe('another tenant', () => {
  it('receives the same answers as for absent webhooks', async () => {
    const webhook = await fixture.webhook('theirs')
    await fixture.publish({ type: 'theirs.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    const own = (await fixture.api.post('/webhooks', minimal)).data(Webhook)
    const foreign = fixture.service.as(testPrincipal())
    const staging = fixture.service.as({ ...fixture.principal, environment: 'staging' })
    for (const api of [foreign, staging]) {
      const replies = [
        await api.get(`/webhooks/${webhook.id}`),
        await api.patch(`/webhooks/${webhook.id}`, { name: 'Mine' }),
        await api.send('DELETE', `/webhooks/${webhook.id}`),
        await api.get(`/webhooks/${webhook.id}/deliveries`),
        await api.get(`/webhooks/${webhook.id}/deliveries/${delivery?.id}`),
      ]
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
      expect((await api.get('/webhooks')).page(Webhook).items).toEqual([])
    }
    const misplaced = await fixture.api.get(`/webhooks/${own.id}/deliveries/${delivery?.id}`)
    expect(misplaced.error().code).toBe('not_found')
  })

  it('a user without the permission cannot change webhooks', async () => {
    const reader = fixture.service.as({ ...fixture.principal, permissions: ['webhooks:read'] })
    expect((await reader.post('/webhooks', minimal)).error().code).toBe('insufficient_scope')
    expect((await reader.get('/webhooks')).status).toBe(200)
  })
})

it('a delivery shows its body only to users who may read such events', async () => {
  const webhook = await fixture.webhook('shown')
  await fixture.publish({ type: 'shown.created' })
  const [delivery] = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
  const bodyFor = async (permissions: string[]) => {
    const reader = fixture.service.as({ ...fixture.principal, permissions })
    const reply = await reader.get(`/webhooks/${webhook.id}/deliveries/${delivery?.id}`)
    return reply.data(DeliveryDetail).request?.body
  }
  const sent = String(fixture.requestsTo('shown')[0]?.rawBody)
  expect(sent).toContain('shown.created')
  expect(await bodyFor(['webhooks:read'])).toBe('***')
  expect(await bodyFor(['webhooks:read', 'audit:read'])).toBe(sent)
  expect(await bodyFor(['webhooks:read', 'webhooks:write'])).toBe('***')
})

describe('the read model', () => {
  it('equals a refold of the log', async () => {
    const rows = () => fixture.service.sql`select * from webhooks order by id`
    const kept = await rows()
    expect(kept.length).toBeGreaterThan(5)
    await fixture.service.rebuild()
    expect([...(await rows())]).toEqual([...kept])
  })
})
