import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import type { DispatcherFixture } from '../../fixture/dispatcher-fixture.js'
import { type KillableDispatcher, startKillable } from '../../fixture/dispatcher-process.js'

let killable: KillableDispatcher
let fixture: DispatcherFixture
beforeAll(async () => {
  killable = await startKillable()
  fixture = killable.fixture
})
afterAll(() => killable?.stop())

describe('a dispatcher that is killed after accepting retries and replays', () => {
  it('loses no retry or replay', async () => {
    let answer: { status: number; delayMs?: number } = { status: 500 }
    const webhook = await fixture.webhook('killed', { retries: 0, timeout_ms: 5_000 }, () => answer)
    const seen = createDeliveryReader(fixture, webhook.id)
    await fixture.publish({ type: 'killed.created' })
    const [failed] = await seen.having('failed', 1)
    // An attempt that hangs until the kill may time out first; it is then retried.
    await fixture.api.patch(`/webhooks/${webhook.id}`, { retries: 20, retry_schedule: [1] })
    answer = { status: 200, delayMs: 60_000 }
    const resend = async (action: string) =>
      (await fixture.api.post(`${seen.path}/${failed?.id}/${action}`)).data(Delivery)
    const replays = [await resend('replay'), await resend('replay')]
    const retried = await resend('retry')

    await killable.kill()
    answer = { status: 200 }
    await killable.startAnother()

    const succeeded = await waitFor(
      async () => {
        const rows = await fixture.service.sql<{ id: string }[]>`
          select id from deliveries where status = 'succeeded'`
        return rows.length === 3 && rows.map(({ id }) => id)
      },
      { message: 'the retry and both replays' },
    )
    const resent = [...replays, retried].map(({ id }) => id)
    expect(succeeded.sort()).toEqual([...resent].sort())
    const reported = await waitFor(
      async () => {
        const rows = await fixture.service.sql<{ delivery: string; published: boolean }[]>`
          select data->>'deliveryId' as delivery, not exists (select from outbox where event_id = events.id) as published from events
          where type in ('webhook.delivery_retried', 'webhook.delivery_replayed') order by position`
        return rows.every(({ published }) => published) && rows.map(({ delivery }) => delivery)
      },
      { message: 'the events of the retry and both replays to be published' },
    )
    expect(reported).toEqual(resent)
  })
})
