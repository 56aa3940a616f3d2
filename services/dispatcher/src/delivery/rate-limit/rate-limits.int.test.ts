import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RunningService } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { computeMaxBurst } from '../../fixture/simulated-time.js'
import { computeBurst } from './rate-limit-scheduler.js'

let fixture: DispatcherFixture
let other: RunningService | undefined
beforeAll(async () => {
  fixture = await startDispatcher()
  other = await fixture.service.replica()
})
afterAll(async () => {
  await other?.stop()
  await fixture?.stop()
})

const nextSlotOf = async (webhookId: string) => {
  const [row] = await fixture.service.sql<{ next_at: number }[]>`
    select next_at from webhook_pace where webhook_id = ${webhookId}`
  return row?.next_at
}
/** Start times of the webhook's attempts, in order. */
const startsOf = async (webhookId: string) => {
  const rows = await fixture.service.sql<{ started_at: string }[]>`
    select a.started_at from delivery_attempts a join deliveries d on d.id = a.delivery_id
    where d.webhook_id = ${webhookId} order by a.started_at`
  return rows.map(({ started_at }) => Date.parse(started_at))
}
const publish = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.publish({ type: `${name}.created` })))

/** Counts the writes to delivery rows of this webhook from now on. */
async function countWrites(webhookId: string): Promise<() => Promise<number>> {
  const { sql } = fixture.service
  await sql.unsafe(`
    create sequence writes;
    create function count_write() returns trigger language plpgsql security definer set search_path from current as
      $$ begin perform nextval('writes'); return null; end $$;
    create trigger count_writes after update on deliveries for each row
      when (new.webhook_id = '${webhookId}') execute function count_write()`)
  return async () => Number((await sql`select last_value from writes`)[0]?.last_value)
}

describe('a webhook with a rate limit', () => {
  it('receives all deliveries on schedule from all replicas together, without effect on other webhooks', async () => {
    const limited = await fixture.webhook('paced', { rate_limit_per_second: 20, events: ['both.*'] })
    const free = await fixture.webhook('unpaced', { events: ['both.*'] })
    const began = Date.now()
    const events = await publish('both', 60)
    await createDeliveryReader(fixture, free.id).having('succeeded', 60)
    const delivered = await createDeliveryReader(fixture, limited.id).having('succeeded', 60)
    expect(delivered.map(({ eventId }) => eventId).sort()).toEqual(events.map(({ id }) => id).sort())
    const starts = await startsOf(limited.id)
    expect(starts).toHaveLength(60)
    // Instants are recorded in whole milliseconds, shortly after the slot was used.
    expect(computeMaxBurst(starts, 20)).toBeLessThan(computeBurst(20) + 0.1)
    // Sixty consecutive slots.
    expect(await nextSlotOf(limited.id)).toBeGreaterThanOrEqual(began + 60 * 50)
    expect(await nextSlotOf(free.id)).toBeUndefined()
  })

  it('limits the rate of first attempts and retries together', async () => {
    const answer = (_: unknown, count: number) => ({ status: count % 2 === 1 ? 500 : 200 })
    const settings = { rate_limit_per_second: 4, retry_schedule: [1], retries: 20 }
    const webhook = await fixture.webhook('retried', settings, answer)
    await publish('retried', 4)
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 4)
    const starts = await startsOf(webhook.id)
    expect(starts).toHaveLength(8)
    expect(computeMaxBurst(starts, 4)).toBeLessThan(computeBurst(4) + 0.1)
  })

  it('keeps deliveries in Postgres, without repeated claims, while its next slot is far off', async () => {
    const webhook = await fixture.webhook('rare', { rate_limit_per_second: 0.02 })
    const seen = createDeliveryReader(fixture, webhook.id)
    const writes = await countWrites(webhook.id)
    const events = await publish('rare', 30)
    // A replica that is late by more than a second misses the first slot; the next one is 50 seconds later.
    await seen.having('succeeded', 1)
    const nextSlot = await nextSlotOf(webhook.id)

    // Takes long enough for all replicas to poll several times.
    const schedule = { retries: 3, retry_schedule: [1] }
    const flaky = await fixture.webhook('flaky', schedule, (_, count) => ({ status: count < 4 ? 500 : 200 }))
    await publish('flaky', 1)
    await createDeliveryReader(fixture, flaky.id).having('succeeded', 1)
    expect(await writes()).toBeLessThan(200)
    expect(await nextSlotOf(webhook.id)).toBe(nextSlot)
    expect(fixture.requestsTo('rare')).toHaveLength(1)
    expect(await seen.list('?status=pending&limit=200')).toHaveLength(29)

    await fixture.api.patch(`/webhooks/${webhook.id}`, { rate_limit_per_second: 1_000 })
    await seen.having('succeeded', 30)
    const received = fixture.requestsTo('rare').map(({ headers }) => headers['webhook-id'])
    expect(received.sort()).toEqual(events.map(({ id }) => id).sort())
  })

  it('leaves no schedule behind when it is deleted', async () => {
    const webhook = await fixture.webhook('deleted', { rate_limit_per_second: 1_000 })
    await publish('deleted', 1)
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    expect(await nextSlotOf(webhook.id)).toBeDefined()
    await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
    await waitFor(async () => (await nextSlotOf(webhook.id)) === undefined)
  })
})
