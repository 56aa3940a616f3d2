import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId, PublishedTopicEvent, TopicEvent } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

const event = (n: number) => ({ type: 'order.paid', payload: { n } })
const publish = async (api: ApiClient, topic: string, body: object) =>
  (await api.post(`/events/topics/${topic}/publish`, body)).data(PublishedTopicEvent)
const read = async (api: ApiClient, topic: string, query = '') =>
  (await api.get(`/events/topics/${topic}/events${query}`)).page(TopicEvent)
const newApi = () => fixture.service.as(testPrincipal())

describe('publishing and reading events', () => {
  it('returns published events, oldest first, and continues after a cursor', async () => {
    const api = newApi()
    expect(await read(api, 'orders')).toEqual({
      items: [],
      pagination: { nextCursor: null, hasMore: false, limit: 50 },
    })
    const published: PublishedTopicEvent[] = []
    for (const n of [1, 2, 3]) {
      published.push(await publish(api, 'orders', event(n)))
      await publish(api, 'orders.other', event(n))
    }
    expect(published[0]).toMatchObject({ topic: 'orders', type: 'order.paid', deduplicated: false })

    const all = await read(api, 'orders')
    expect(all.items).toEqual(
      published.map(({ deduplicated: _, ...rest }, index) => ({ ...rest, payload: { n: index + 1 } })),
    )
    const ids = published.map(({ id }) => id)
    const first = await read(api, 'orders', '?limit=2')
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(first.pagination).toEqual({ nextCursor: ids[1], hasMore: true, limit: 2 })
    const rest = await read(api, 'orders', `?after=${ids[1]}`)
    expect(rest.items.map(({ id }) => id)).toEqual(ids.slice(2))
    expect(rest.pagination).toEqual({ nextCursor: ids[2], hasMore: false, limit: 50 })
    const none = await read(api, 'orders', `?after=${ids[2]}`)
    expect(none).toEqual({ items: [], pagination: { nextCursor: ids[2], hasMore: false, limit: 50 } })
  })

  it('answers a repeated Idempotency-Key with the same event', async () => {
    const api = newApi()
    const key = { 'idempotency-key': newId('request') }
    const post = () => api.post('/events/topics/once/publish', event(1), key)
    const [first, second] = [await post(), await post()]
    expect(first.status).toBe(201)
    expect(second.data(PublishedTopicEvent)).toEqual(first.data(PublishedTopicEvent))
    expect((await read(api, 'once')).items).toHaveLength(1)
  })

  it.each(['Orders', 'a b', 'a..b', '.a', 'a.', 'a*', '>', '*', '-a', 'a'.repeat(101)])(
    'rejects the topic name %p',
    async (name) => {
      const path = `/events/topics/${encodeURIComponent(name)}`
      const refused = await fixture.api.post(`${path}/publish`, event(1))
      expect(refused.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/name' }] })
      expect((await fixture.api.get(`${path}/events`)).status).toBe(422)
    },
  )

  it.each([
    [{ type: 'a' }],
    [{ type: 'a', payload: [] }],
    [{ payload: {} }],
    [{ type: '', payload: {} }],
    [{ type: 'a', payload: {}, more: 1 }],
    [{ type: 'a', payload: {}, deduplicationKey: '' }],
  ])('rejects %j', async (body) => {
    expect((await fixture.api.post('/events/topics/orders/publish', body)).status).toBe(422)
  })

  it.each(['timeout=20001', 'timeout=-1', 'limit=0', 'limit=201', 'more=1', 'sort=-createdAt'])(
    'rejects ?%s',
    async (query) => {
      expect((await fixture.api.get(`/events/topics/orders/events?${query}`)).status).toBe(422)
    },
  )

  it('rejects an event that is too large', async () => {
    const text = 'x'.repeat(256 * 1024)
    const large = await fixture.api.post('/events/topics/orders/publish', { type: 'a', payload: { text } })
    expect(large.error()).toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('262144'),
    })
    const fits = await fixture.api.post('/events/topics/large/publish', {
      type: 'a',
      payload: { text: text.slice(100) },
    })
    expect(fits.status).toBe(201)
  })

  it('limits a page of large events', async () => {
    const api = newApi()
    const payload = { text: 'x'.repeat(255 * 1024) }
    for (const _ of Array.from({ length: 20 })) await publish(api, 'large', { type: 'a', payload })
    const first = await read(api, 'large')
    expect(first.items.length).toBeLessThan(20)
    expect(first.pagination.hasMore).toBe(true)
    const rest = await read(api, 'large', `?after=${first.pagination.nextCursor}`)
    expect(first.items.length + rest.items.length).toBe(20)
  })

  it('requires topics:write to publish and topics:read to read', async () => {
    const api = fixture.service.as(testPrincipal({ permissions: ['topics:read'] }))
    expect((await api.post('/events/topics/orders/publish', event(1))).error().code).toBe(
      'insufficient_scope',
    )
    const writer = fixture.service.as(testPrincipal({ permissions: ['topics:write'] }))
    expect((await writer.get('/events/topics/orders/events')).error().code).toBe('insufficient_scope')
  })
})

describe('a deduplicationKey', () => {
  const keyed = (n: number) => ({ ...event(n), deduplicationKey: 'key 1' })

  it('suppresses a second event and returns the first', async () => {
    const api = newApi()
    const first = await publish(api, 'orders', keyed(1))
    const second = await publish(api, 'orders', { ...keyed(2), type: 'order.other' })
    expect(second).toEqual({ ...first, deduplicated: true })
    const { items } = await read(api, 'orders')
    expect(items).toMatchObject([{ id: first.id, payload: { n: 1 }, deduplicationKey: 'key 1' }])
  })

  it('admits one of many concurrent events', async () => {
    const api = newApi()
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => publish(api, 'orders', keyed(n))))
    expect(new Set(results.map(({ id }) => id)).size).toBe(1)
    expect(results.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1)
  })

  it('is scoped to its topic, workspace and environment', async () => {
    const principal = testPrincipal()
    const tenants = [principal, { ...principal, environment: 'staging' as const }, testPrincipal()]
    for (const tenant of tenants) {
      for (const topic of ['orders', 'orders.paid']) {
        const api = fixture.service.as(tenant)
        expect((await publish(api, topic, keyed(1))).deduplicated).toBe(false)
        expect((await publish(api, topic, keyed(1))).deduplicated).toBe(true)
      }
    }
  })
})

describe('another tenant', () => {
  it('cannot read a topic, and a cursor of another tenant is rejected like an invalid one', async () => {
    const principal = testPrincipal()
    const api = fixture.service.as(principal)
    const { id } = await publish(api, 'orders', event(1))
    const staging = fixture.service.as({ ...principal, environment: 'staging' })
    for (const stranger of [newApi(), staging]) expect((await read(stranger, 'orders')).items).toEqual([])

    await publish(api, 'other', event(1))
    const answers = [
      await newApi().get(`/events/topics/orders/events?after=${id}`),
      await staging.get(`/events/topics/orders/events?after=${id}`),
      await api.get(`/events/topics/other/events?after=${id}`),
      await api.get(`/events/topics/orders/events?after=${newId('event')}`),
      await api.get('/events/topics/orders/events?after=garbage'),
      await api.get(`/events/topics/orders/events?after=${id.toLowerCase()}`),
    ]
    const errors = answers.map((answer) => answer.error())
    expect(errors[0]?.code).toBe('invalid_cursor')
    for (const error of errors) expect(error).toEqual(errors[0])
  })
})
