import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type JsMsg, jetstream } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { numberedData, orderedEndpoint } from '../../fixture/ordered-endpoint.js'

let fixture: DispatcherFixture
let link: NatsLink
beforeAll(async () => {
  fixture = await startDispatcher()
  link = connectNats({
    url: testNatsUrl(),
    name: 'replica',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
})
afterAll(async () => {
  await link?.close()
  await fixture?.stop()
})

/** Takes one event away from the dispatcher, like another replica that has not fanned it out yet. */
async function holdOne(
  publish: (n: number) => Promise<unknown>,
): Promise<{ message: JsMsg; published: number }> {
  const { eventsStream } = natsNames(fixture.service.natsPrefix)
  const consumers = jetstream(await link.ready()).consumers
  const consumer = await waitFor(() => consumers.get(eventsStream, 'dispatcher-delivery-fanout'))
  const held: JsMsg[] = []
  const take = async () => {
    for (;;) {
      const message = await consumer.next({ expires: 30_000 })
      if (message?.subject.endsWith('late.created')) return held.push(message)
      // An event about a webhook.
      message?.ack()
    }
  }
  const taken = take()
  for (let published = 1; published < 50; published++) {
    await publish(published)
    await Promise.race([taken, waitFor(async () => held.length > 0 || (await rows()) >= published)])
    if (held[0]) return { message: held[0], published }
  }
  throw new Error('no event was taken away from the dispatcher')
}

async function rows(): Promise<number> {
  const [row] = await fixture.service.sql<{ count: number }[]>`
    select count(*)::int from deliveries where ordering_key is not null`
  return row?.count ?? 0
}

describe('an earlier event that is fanned out later', () => {
  it('is sent first: later events of its key wait for it', async () => {
    const endpoint = orderedEndpoint()
    const webhook = await fixture.webhook('late', { ordering_key: 'data.key' }, endpoint.respond)
    const seen = createDeliveryReader(fixture, webhook.id)
    // An unordered webhook shows that time advances meanwhile: its retry starts after a second.
    const other = await fixture.webhook('clock', { retry_schedule: [1] }, (_, count) => ({
      status: count === 1 ? 500 : 200,
    }))
    const publish = (n: number) => fixture.publish({ type: 'late.created', ...numberedData(n, 'a') })

    const { message, published } = await holdOne(publish)
    // Otherwise the message would eventually be redelivered to the dispatcher.
    const holding = setInterval(() => message.working(), 5_000)
    for (const n of [1, 2, 3]) await publish(published + n)
    await fixture.publish({ type: 'clock.created' })
    await createDeliveryReader(fixture, other.id).having('succeeded', 1)
    await seen.having('pending', 3)
    const before = Array.from({ length: published - 1 }, (_, index) => index + 1)
    expect(endpoint.of('a')).toEqual(before)

    clearInterval(holding)
    message.nak()
    await seen.having('succeeded', published + 3)
    expect(endpoint.of('a')).toEqual([...before, ...[0, 1, 2, 3].map((n) => published + n)])
  })
})
