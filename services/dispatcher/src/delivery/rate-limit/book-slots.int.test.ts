import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { databaseClock } from '../../fixture/database-clock.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createBookings } from './book-slots.js'
import type { BookingRequest, Bookings } from './rate-limit-scheduler.js'

let fixture: DispatcherFixture
let book: Bookings
beforeAll(async () => {
  fixture = await startDispatcher()
  book = createBookings(fixture.service.sql)
})
beforeEach(() => at(0))
afterAll(() => fixture?.stop())

const nowMs = 1_700_000_000_000
/** Sets the database's clock to `nowMs + ms` and stops it. */
const at = (ms: number) => databaseClock(fixture.service.sql).freeze(nowMs + ms)
const asked: Omit<BookingRequest, 'webhookId'> = {
  perSecond: 10,
  count: 1,
  slackMs: 0,
  aheadMs: 250,
  astrayMs: 4_500,
}
/** A webhook that receives no deliveries. */
const limited = async (perSecond: number | null) =>
  (await fixture.webhook('booked', { rate_limit_per_second: perSecond, events: ['never.*'] })).id

describe('slots', () => {
  it('follow one another without a gap, and start again after a pause', async () => {
    const webhookId = await limited(10)
    const first = await book({ ...asked, webhookId, count: 2 })
    expect(first).toEqual({ kind: 'booked', firstInMs: 0, count: 2, intervalMs: 100, perSecond: 10 })
    expect(await book({ ...asked, webhookId })).toMatchObject({ firstInMs: 200, count: 1 })
    await at(10_000)
    expect(await book({ ...asked, webhookId })).toMatchObject({ firstInMs: 0 })
  })

  it('are booked once each under concurrent requests', async () => {
    const webhookId = await limited(1_000)
    const bookings = await Promise.all(
      Array.from({ length: 25 }, () => book({ ...asked, webhookId, count: 10 })),
    )
    const starts = bookings.flatMap((booking) => (booking.kind === 'booked' ? [booking.firstInMs] : []))
    expect(starts.sort((a, b) => a - b).map(Math.round)).toEqual(Array.from({ length: 25 }, (_, n) => n * 10))
  })

  it('are booked for at most a quarter of a second at a time', async () => {
    expect(await book({ ...asked, webhookId: await limited(10), count: 1_000 })).toMatchObject({ count: 3 })
    expect(await book({ ...asked, webhookId: await limited(2), count: 1_000 })).toMatchObject({ count: 1 })
  })

  it('are not booked far ahead', async () => {
    const webhookId = await limited(0.01)
    await book({ ...asked, webhookId })
    for (const ms of [1, 100_749]) {
      await at(ms)
      expect(await book({ ...asked, webhookId })).toEqual({ kind: 'taken', freeInMs: 101_000 - ms })
    }
    await at(100_750)
    expect(await book({ ...asked, webhookId })).toMatchObject({ firstInMs: 250 })
  })

  it('are followed by the requested slack', async () => {
    const webhookId = await limited(10)
    expect(await book({ ...asked, webhookId, slackMs: 30 })).toMatchObject({ intervalMs: 130 })
    expect(await book({ ...asked, webhookId })).toMatchObject({ firstInMs: 130 })
  })

  it.each([
    [0.01, 101_000],
    [0.5, 2_100],
    [4, 262.5],
    [5, 200],
  ])(
    'of %d per second are %d ms apart: where no burst is allowed, slack for delays is added',
    async (rate, intervalMs) => {
      const webhookId = await limited(rate)
      expect(await book({ ...asked, webhookId })).toMatchObject({ firstInMs: 0, intervalMs })
      await at(200_000)
      const late = { ...asked, webhookId, slackMs: 4_000 }
      expect(await book(late)).toMatchObject({ intervalMs: 1_000 / rate + 4_000 })
    },
  )

  it("follow the webhook's current limit", async () => {
    const webhookId = await limited(0.01)
    await book({ ...asked, webhookId, perSecond: 0.01 })
    await fixture.api.patch(`/webhooks/${webhookId}`, { rate_limit_per_second: 100 })
    await at(5)
    const raised = { kind: 'booked', firstInMs: 0, count: 1, intervalMs: 10, perSecond: 100 }
    expect(await book({ ...asked, webhookId, perSecond: 0.01 })).toEqual(raised)
    await at(15)
    await fixture.api.patch(`/webhooks/${webhookId}`, { rate_limit_per_second: null })
    expect(await book({ ...asked, webhookId })).toMatchObject({ perSecond: 10 })
  })

  it('are not booked for a deleted webhook', async () => {
    const webhookId = await limited(10)
    await book({ ...asked, webhookId })
    await fixture.api.send('DELETE', `/webhooks/${webhookId}`)
    expect(await book({ ...asked, webhookId })).toEqual({ kind: 'gone' })
  })
})
