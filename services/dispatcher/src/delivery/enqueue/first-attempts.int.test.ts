import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  // The lock taken by a test blocks some connections while others are needed.
  fixture = await startDispatcher({ env: { DATABASE_POOL_SIZE: '24' } })
})
afterAll(() => fixture?.stop())

describe('the first attempt of a delivery', () => {
  it('of a plain webhook starts before its row is written; others (ordered, rate-limited, paused) wait for it', async () => {
    const plain = await fixture.webhook('plain', { events: ['early.*'] })
    const others = [
      await fixture.webhook('lined', { events: ['early.*'], ordering_key: 'id' }),
      await fixture.webhook('paced', { events: ['early.*'], rate_limit_per_second: 1_000 }),
      await fixture.webhook('held', { events: ['early.*'], status: 'paused' }),
    ]
    const { sql } = fixture.service
    let published = 0
    await sql.begin(async (tx) => {
      await tx`lock table deliveries in share mode`
      await waitFor(async () => {
        // The change makes the index reload its webhooks, so that it is trusted.
        await fixture.api.patch(`/webhooks/${plain.id}`, { name: `plain ${published}` })
        await fixture.publish({ type: 'early.created' })
        published++
        return fixture.requestsTo('plain').length > 0
      })
      for (const name of ['lined', 'paced', 'held']) expect(fixture.requestsTo(name)).toEqual([])
      expect(await createDeliveryReader(fixture, plain.id).list()).toEqual([])
    })
    const delivered = await createDeliveryReader(fixture, plain.id).having('succeeded', published)
    expect(delivered.map(({ attempts }) => attempts)).toEqual(delivered.map(() => 1))
    expect(fixture.requestsTo('plain')).toHaveLength(published)
    const [lined, paced, held] = others
    for (const webhook of [lined, paced])
      await createDeliveryReader(fixture, webhook?.id ?? '').having('succeeded', published)
    await createDeliveryReader(fixture, held?.id ?? '').having('held', published)
    expect(fixture.requestsTo('held')).toEqual([])
  })

  it('that fails before its row is written is retried and counted like any other', async () => {
    const webhook = await fixture.webhook('failing', { retries: 1, retry_schedule: [1] }, () => ({
      status: 500,
    }))
    for (const _ of [1, 2]) await fixture.publish({ type: 'failing.created' })
    const failed = await createDeliveryReader(fixture, webhook.id).having('failed', 2)
    expect(failed.map(({ attempts }) => attempts)).toEqual([2, 2])
    expect(await createDeliveryReader(fixture, webhook.id).webhook()).toMatchObject({
      consecutive_failures: 2,
    })
    expect(fixture.requestsTo('failing')).toHaveLength(4)
  })
})
