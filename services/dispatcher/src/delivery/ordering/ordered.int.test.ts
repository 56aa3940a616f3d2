import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { databaseClock } from '../../fixture/database-clock.js'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createGate, numberedData, orderedEndpoint } from '../../fixture/ordered-endpoint.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

const ordered = { ordering_key: 'data.key', retries: 0 }
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

async function publish(name: string, n: number, key?: string) {
  return fixture.publish({ type: `${name}.created`, ...numberedData(n, key) })
}

describe('a webhook with an ordering key', () => {
  it('receives the deliveries of each key one after another, in the order of their events', async () => {
    const endpoint = orderedEndpoint(({ n }) => ({ status: 200, delayMs: (n * 7) % 5 }))
    const webhook = await fixture.webhook('lined', ordered, endpoint.respond)
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const n of upTo(12)) await Promise.all(keys.map((key) => publish('lined', n, key)))
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 60)
    for (const key of keys) expect(endpoint.of(key)).toEqual(upTo(12))
    expect([...endpoint.overlapped]).toEqual([])
  })

  it('delays the next delivery of a key during a retry, but no other key and no delivery without a key', async () => {
    let failing = true
    const endpoint = orderedEndpoint(({ key }) => {
      const status = key === 'a' && failing ? 500 : 200
      if (key === 'a') failing = false
      return { status }
    })
    const settings = { ordering_key: 'data.key', retry_schedule: [600] }
    const webhook = await fixture.webhook('retried', settings, endpoint.respond)
    const seen = createDeliveryReader(fixture, webhook.id)
    for (const n of [1, 2, 3]) await publish('retried', n, 'a')
    for (const n of [1, 2]) await publish('retried', n, 'b')
    await publish('retried', 9)
    await seen.having('retrying', 1)
    await seen.having('succeeded', 3)
    const waiting = await seen.having('pending', 2)
    for (const delivery of waiting) expect(delivery).toMatchObject({ attempts: 0, nextAttemptAt: null })
    expect(endpoint.of('a')).toEqual([1])
    expect(endpoint.of('b')).toEqual([1, 2])
    expect(endpoint.of('')).toEqual([9])
    await databaseClock(fixture.service.sql).ahead(600_000)
    await seen.having('succeeded', 6)
    expect(endpoint.of('a')).toEqual([1, 1, 2, 3])
  })

  it('continues with the next delivery of a key after the last retry of the previous one', async () => {
    const endpoint = orderedEndpoint(({ n }) => ({ status: n === 2 ? 500 : 200 }))
    const settings = { ordering_key: 'data.key', retries: 1, retry_schedule: [1] }
    const webhook = await fixture.webhook('exhausted', settings, endpoint.respond)
    for (const n of [1, 2, 3]) await publish('exhausted', n, 'a')
    const seen = createDeliveryReader(fixture, webhook.id)
    await seen.having('succeeded', 2)
    await seen.having('failed', 1)
    expect(endpoint.of('a')).toEqual([1, 2, 2, 3])
  })

  it('keeps the order across a pause', async () => {
    let healthy = false
    const endpoint = orderedEndpoint(() => ({ status: healthy ? 200 : 500 }))
    const settings = { ordering_key: 'data.key', retry_schedule: [3_600] }
    const webhook = await fixture.webhook('halted', settings, endpoint.respond)
    const seen = createDeliveryReader(fixture, webhook.id)
    for (const n of upTo(15)) for (const key of ['a', 'b']) await publish('halted', n, key)
    await seen.having('retrying', 2)
    await seen.having('pending', 28)
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    for (const n of [16, 17]) for (const key of ['a', 'b']) await publish('halted', n, key)
    await seen.having('held', 34)
    healthy = true
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    await seen.having('succeeded', 34)
    for (const key of ['a', 'b']) expect(endpoint.of(key)).toEqual([1, ...upTo(17)])
    expect([...endpoint.overlapped]).toEqual([])
  })

  it('sends manual retries and replays in order, before later deliveries', async () => {
    let healthy = false
    const held = createGate()
    const endpoint = orderedEndpoint(async ({ n }) => {
      if (healthy && n === 1) await held.opened
      return { status: healthy ? 200 : 500 }
    })
    const webhook = await fixture.webhook('again', { ...ordered, timeout_ms: 60_000 }, endpoint.respond)
    const seen = createDeliveryReader(fixture, webhook.id)
    for (const n of [1, 2]) await publish('again', n, 'a')
    const failed = await seen.having('failed', 2)
    healthy = true
    const numberOf = new Map(endpoint.arrived.map(({ id, n }) => [id, n]))
    const byNumber = failed.toSorted(
      (a, b) => Number(numberOf.get(a.eventId)) - Number(numberOf.get(b.eventId)),
    )
    for (const { id } of byNumber)
      expect((await fixture.api.post(`${seen.path}/${id}/retry`)).data(Delivery)).toMatchObject({
        status: 'pending',
        nextAttemptAt: null,
      })
    await publish('again', 3, 'a')
    await waitFor(() => endpoint.arrived.length === 3)
    await seen.having('pending', 3)
    held.open()
    const succeeded = await seen.having('succeeded', 3)
    expect(endpoint.of('a')).toEqual([1, 2, 1, 2, 3])

    for (const { id } of succeeded) await fixture.api.post(`${seen.path}/${id}/replay`)
    await seen.having('succeeded', 6)
    expect(endpoint.of('a').slice(5).toSorted()).toEqual([1, 2, 3])
    expect([...endpoint.overlapped]).toEqual([])
  })

  it('orders the deliveries after a change of its ordering key', async () => {
    const endpoint = orderedEndpoint()
    const webhook = await fixture.webhook('changed', { retries: 0 }, endpoint.respond)
    const seen = createDeliveryReader(fixture, webhook.id)
    await publish('changed', 1, 'a')
    await seen.having('succeeded', 1)
    await fixture.api.patch(`/webhooks/${webhook.id}`, { ordering_key: 'data.key' })
    for (const n of [2, 3]) await publish('changed', n, 'a')
    await seen.having('succeeded', 3)
    const rows = await fixture.service.sql`
      select ordering_key, ordering_place is not null as placed from deliveries
      where webhook_id = ${webhook.id} order by id`
    expect([...rows]).toEqual([
      { ordering_key: null, placed: false },
      { ordering_key: '"a"', placed: true },
      { ordering_key: '"a"', placed: true },
    ])
  })
})
