import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, type Webhook } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
let webhook: Webhook
/**
 * Oldest first: a failed delivery of a created event, a failed one of an updated event, a
 * successful one of a created event.
 */
let made: Delivery[]
beforeAll(async () => {
  fixture = await startDispatcher()
  let status = 500
  webhook = await fixture.webhook('listed', { retries: 0 }, () => ({ status }))
  const seen = createDeliveryReader(fixture, webhook.id)
  await fixture.publish({ type: 'listed.created' })
  await seen.having('failed', 1)
  await fixture.publish({ type: 'listed.updated' })
  await seen.having('failed', 2)
  status = 200
  await fixture.publish({ type: 'listed.created' })
  await seen.having('succeeded', 1)
  made = (await seen.list()).reverse()
})
afterAll(() => fixture?.stop())

const idsOf = async (path: string) => (await fixture.api.get(path)).page(Delivery).items.map(({ id }) => id)
const listed = (query: string) => idsOf(`/webhooks/${webhook.id}/deliveries?${query}`)
const moment = (index: number) => encodeURIComponent(made[index]?.createdAt ?? '')

describe('the deliveries of a webhook', () => {
  it.each<[string, () => string, number[]]>([
    ['a status', () => 'status=failed', [1, 0]],
    ['a status repeated', () => 'status=failed&status=succeeded', [2, 1, 0]],
    ['statuses separated by commas', () => 'status=succeeded,retrying', [2]],
    ['an event type', () => 'eventType=listed.created', [2, 0]],
    ['event types', () => 'eventType=listed.created&eventType=listed.updated', [2, 1, 0]],
    ['a time after', () => `createdAfter=${moment(0)}`, [2, 1]],
    ['a time before', () => `createdBefore=${moment(2)}`, [1, 0]],
    ['a span', () => `createdAfter=${moment(0)}&createdBefore=${moment(2)}`, [1]],
    ['a span long ago', () => 'createdBefore=2020-01-01T00:00:00Z', []],
    ['a span to come', () => 'createdAfter=2999-01-01T00:00:00%2B02:00', []],
    ['several together', () => `status=failed&eventType=listed.created&createdBefore=${moment(2)}`, [0]],
  ])('are filtered by %s', async (_, query, expected) => {
    const ids = expected.map((index) => made[index]?.id)
    expect(await listed(query())).toEqual(ids)
    expect(await idsOf(`/deliveries?webhookId=${webhook.id}&${query()}`)).toEqual(ids)
  })

  it('are paged within a filter', async () => {
    const path = `/webhooks/${webhook.id}/deliveries?status=failed&limit=1`
    const first = (await fixture.api.get(path)).page(Delivery)
    expect(first.pagination).toMatchObject({ hasMore: true, nextCursor: made[1]?.id })
    expect(await idsOf(`${path}&after=${first.pagination.nextCursor}`)).toEqual([made[0]?.id])
  })

  it.each(['status=lost', 'createdAfter=yesterday', 'colour=red', 'eventType='])(
    'reject the query %s',
    async (query) => {
      const reply = await fixture.api.get(`/webhooks/${webhook.id}/deliveries?${query}`)
      expect(reply.error()).toMatchObject({ code: 'validation_failed', details: [{ in: 'query' }] })
    },
  )
})

describe('the deliveries of all webhooks', () => {
  it('are those of the environment, filtered by the status that is shown', async () => {
    const held = await fixture.webhook('held', { status: 'paused' })
    await fixture.publish({ type: 'held.created' })
    const [waiting] = await createDeliveryReader(fixture, held.id).having('held', 1)
    const all = (await fixture.api.get('/deliveries')).page(Delivery).items
    expect(new Set(all.map(({ webhookId }) => webhookId))).toEqual(new Set([webhook.id, held.id]))
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    for (const { status } of all) {
      const listedAs = (await fixture.api.get(`/deliveries?status=${status}`)).page(Delivery).items
      expect(listedAs).toEqual(all.filter((delivery) => delivery.status === status))
    }
    expect(await idsOf('/deliveries?status=pending,retrying')).toEqual([])
    expect(await idsOf('/deliveries?status=held,succeeded&eventType=held.created')).toEqual([waiting?.id])

    const first = (await fixture.api.get('/deliveries?limit=1')).page(Delivery)
    expect(await idsOf(`/deliveries?after=${first.pagination.nextCursor}`)).toEqual(
      all.slice(1).map(({ id }) => id),
    )
    await fixture.api.send('DELETE', `/webhooks/${held.id}`)
    expect(await idsOf(`/deliveries?webhookId=${held.id}`)).toEqual([waiting?.id])
  })

  it('are visible to their workspace only', async () => {
    const { workspaceId = '' } = fixture.principal
    for (const other of [testPrincipal(), testPrincipal({ workspaceId, environment: 'staging' })])
      for (const path of ['/deliveries', `/deliveries?webhookId=${webhook.id}`, '/deliveries/failures'])
        expect((await fixture.service.as(other).get(path)).page(Delivery).items).toEqual([])
  })
})

describe('the deliveries of an event', () => {
  it('include every webhook and every replay, and are visible to their workspace only', async () => {
    const one = await fixture.webhook('both', {})
    const two = await fixture.webhook('both', {})
    const event = await fixture.publish({ type: 'both.created' })
    await fixture.publish({ type: 'both.created' })
    await createDeliveryReader(fixture, one.id).having('succeeded', 2)
    await createDeliveryReader(fixture, two.id).having('succeeded', 2)
    const path = `/events/${event.id}/deliveries`
    const before = (await fixture.api.get(path)).page(Delivery).items
    expect(new Set(before.map(({ webhookId }) => webhookId))).toEqual(new Set([one.id, two.id]))
    expect(before.map(({ eventId }) => eventId)).toEqual([event.id, event.id])

    const [original] = before
    const replay = await fixture.api.post(
      `/webhooks/${original?.webhookId}/deliveries/${original?.id}/replay`,
    )
    const { id } = replay.data(Delivery)
    const ids = await idsOf(path)
    expect(ids).toEqual([id, ...before.map((delivery) => delivery.id)])
    expect(await idsOf(`${path}?limit=2&after=${id}`)).toEqual(before.map((delivery) => delivery.id))

    expect((await fixture.service.as(testPrincipal()).get(path)).page(Delivery).items).toEqual([])
    const { workspaceId = '' } = fixture.principal
    const staging = fixture.service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    expect((await staging.get(path)).page(Delivery).items).toEqual([])
    const outsider = fixture.service.as(testPrincipal({ workspaceId, permissions: ['incidents:read'] }))
    expect((await outsider.get(path)).error().code).toBe('insufficient_scope')
  })

  it('are empty for an event without a matching webhook', async () => {
    expect(await idsOf('/events/evt_unknown/deliveries')).toEqual([])
    const reply = await fixture.api.get('/events/evt_unknown/deliveries?after=nonsense')
    expect(reply.error().code).toBe('invalid_cursor')
  })
})
