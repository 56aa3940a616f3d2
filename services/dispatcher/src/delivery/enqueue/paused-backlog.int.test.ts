import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, type Webhook } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createPausedBacklog } from '../../fixture/paused-backlog.js'

/** Number of deliveries that wait while their webhook is paused. */
const backlog = Number(process.env.TEST_HELD_DELIVERIES ?? 20_000)

let fixture: DispatcherFixture
let answered = true
beforeAll(async () => {
  fixture = await startDispatcher({ env: { WEBHOOK_DRAIN_PER_SECOND: '10' } })
})
afterAll(() => fixture?.stop())

/** Counts the delivery rows written from now on. */
async function countWrites() {
  const { sql } = fixture.service
  await sql.unsafe(`
    create sequence writes;
    create function count_write() returns trigger language plpgsql security definer set search_path from current as
      $$ begin perform nextval('writes'); return null; end $$;
    create trigger count_writes after insert or update or delete on deliveries for each row execute function count_write()`)
  return async () => {
    const [row] = await sql<
      { last_value: string; is_called: boolean }[]
    >`select last_value, is_called from writes`
    return row?.is_called ? Number(row.last_value) : 0
  }
}

const statusOf = async (webhook: Webhook, status: Delivery['status']) =>
  (await fixture.api.get(`/webhooks/${webhook.id}/deliveries?status=${status}&limit=5`)).page(Delivery).items

describe(`a backlog of ${backlog} deliveries`, () => {
  it('is held, drained at its pace and held again without a write for each waiting delivery', async () => {
    const webhook = await createPausedBacklog(fixture, 'crowded', backlog, () => ({
      status: answered ? 200 : 500,
    }))
    const seen = createDeliveryReader(fixture, webhook.id)
    const writes = await countWrites()
    expect(await statusOf(webhook, 'held')).toHaveLength(5)
    expect(await statusOf(webhook, 'pending')).toEqual([])

    // After the resume the backlog is drained two at a time; new deliveries do not wait behind it.
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    const fresh = await fixture.publish({ type: 'crowded.updated' })
    await waitFor(() =>
      fixture.requestsTo('crowded').some(({ headers }) => headers['webhook-id'] === fresh.id),
    )
    expect(await statusOf(webhook, 'held')).toEqual([])
    expect(await statusOf(webhook, 'pending')).toHaveLength(5)
    await waitFor(() => fixture.requestsTo('crowded').length > 10)

    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    const attempted = fixture.requestsTo('crowded').length
    expect(await statusOf(webhook, 'held')).toHaveLength(5)
    expect((await seen.list('?limit=1&status=held'))[0]).toMatchObject({ nextAttemptAt: null })
    // Writes for each drained delivery: the step, the lease, the result, and for some the release.
    expect(await writes()).toBeLessThanOrEqual(4 * (attempted + 40))

    // Paused automatically, in the transaction that records the fifth failure.
    answered = false
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active', retries: 0 })
    await waitFor(async () => (await seen.webhook()).status === 'paused')
    expect(await statusOf(webhook, 'held')).toHaveLength(5)
    expect(await writes()).toBeLessThanOrEqual(4 * (fixture.requestsTo('crowded').length + 80))
  })

  it('of a deleted webhook is shown as failed immediately, and ended gradually', async () => {
    const webhook = await createPausedBacklog(fixture, 'doomed', backlog)
    const { sql } = fixture.service
    const [one] = await statusOf(webhook, 'held')
    // Nothing is cleaned up while the queue's row is locked.
    await sql.begin(async (tx) => {
      await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
      await tx`select from webhook_queues where webhook_id = ${webhook.id} for update`
      const events = await fixture.api.get(`/events/${one?.eventId}/deliveries?status=failed&limit=2`)
      const [failed] = events.page(Delivery).items
      expect(failed).toMatchObject({
        status: 'failed',
        lastError: { kind: 'webhook_deleted' },
        nextAttemptAt: null,
      })
      const held = await fixture.api.get(`/events/${one?.eventId}/deliveries?status=held`)
      expect(held.page(Delivery).items).toEqual([])
    })
    await waitFor(
      async () => (await sql`select from webhook_queues where webhook_id = ${webhook.id}`).length === 0,
    )
    const rows = await sql<{ status: string; count: number }[]>`
      select status, count(*)::int from deliveries where webhook_id = ${webhook.id} group by status`
    expect([...rows]).toEqual([{ status: 'failed', count: backlog }])
    expect(fixture.requestsTo('doomed')).toEqual([])
  })
})
