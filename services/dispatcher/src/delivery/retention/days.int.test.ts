import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ReplayStarted } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { buildEventId } from '../../fixture/days.js'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createGate } from '../../fixture/ordered-endpoint.js'
import { dayMs } from './retention-policy.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

const publishAgo = (type: string, daysAgo: number) =>
  fixture.publish({ type, id: buildEventId(Date.now() - daysAgo * dayMs) })
const dateAgo = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
const partitionAgo = (table: string, daysAgo: number) => `${table}_${dateAgo(daysAgo).replaceAll('-', '')}`
const dropDay = (daysAgo: number, forced = false) =>
  fixture.service.sql<{ lost: string | null }[]>`
    select drop_delivery_day(${dateAgo(daysAgo)}::date, ${forced}) as lost`

/**
 * The number of deliveries lost with a dropped day, or `none` if it does not exist.
 * Retries while the service holds a lock.
 */
const droppedDay = (daysAgo: number) =>
  waitFor(async () => {
    const [row] = await dropDay(daysAgo).catch(later)
    return row && (row.lost ?? 'none')
  })

describe('deliveries of many days', () => {
  it('are listed, searched and selected for replay across days', async () => {
    const answer = { status: 500 }
    const webhook = await fixture.webhook('spread', { retries: 0, events: ['spread.*'] }, () => answer)
    const seen = createDeliveryReader(fixture, webhook.id)
    const events = []
    for (const ago of [20, 13, 6, 1]) events.push(await publishAgo('spread.created', ago))
    const newestFirst = events.map(({ id }) => id).reverse()
    const failed = await seen.having('failed', 4)
    expect(failed.map(({ eventId }) => eventId)).toEqual(newestFirst)
    const [from, to] = [14, 3].map((ago) => new Date(Date.now() - ago * dayMs).toISOString())
    const within = await seen.list(`?createdAfter=${from}&createdBefore=${to}`)
    expect(within.map(({ eventId }) => eventId)).toEqual(newestFirst.slice(1, 3))
    expect((await seen.detail(failed[3]?.id ?? '')).attemptLog).toHaveLength(1)

    answer.status = 200
    const replay = await fixture.api.post(`/webhooks/${webhook.id}/deliveries/replay`, { from, to })
    expect(replay.data(ReplayStarted).count).toBe(2)
    const again = await seen.having('succeeded', 2)
    expect(again.map(({ eventId }) => eventId).sort()).toEqual(newestFirst.slice(1, 3).sort())
  })

  it('have ids from which Postgres derives the day, from the first to the last millisecond', async () => {
    const start = Date.parse('2026-03-01T00:00:00.000Z')
    const ids = [start, start + dayMs / 2, start + dayMs - 1].map(buildEventId)
    const days = await fixture.service.sql`
      select ulid_day(id)::text as day, id >= 'evt_' || ulid_start('2026-03-01') as after,
        id < 'evt_' || ulid_start('2026-03-02') as before
      from unnest(${ids}::text[]) id`
    const expected = { day: '2026-03-01', after: true, before: true }
    expect([...days]).toEqual([expected, expected, expected])
  })

  it('have a partition recreated that was dropped outside the service', async () => {
    const webhook = await fixture.webhook('undercut')
    const seen = createDeliveryReader(fixture, webhook.id)
    await publishAgo('undercut.created', 4)
    await seen.having('succeeded', 1)
    for (const table of ['deliveries', 'delivery_attempts', 'delivery_events'])
      await fixture.service.sql.unsafe(`drop table ${partitionAgo(table, 4)}`)
    const event = await publishAgo('undercut.created', 4)
    const [delivery] = await seen.having('succeeded', 1)
    expect(delivery?.eventId).toBe(event.id)
    expect((await fixture.service.sql`select 1 from dead_letters`).length).toBe(0)
  })

  it('fail with the reason if their event was removed', async () => {
    const removed = createGate()
    const webhook = await fixture.webhook('orphan', { retry_schedule: [1] }, async () => {
      await removed.opened
      return { status: 500 }
    })
    const seen = createDeliveryReader(fixture, webhook.id)
    const event = await fixture.publish({ type: 'orphan.created' })
    await waitFor(() => fixture.requestsTo('orphan').length === 1)
    // A first attempt may start before the rows of its event are written.
    await waitFor(async () => {
      const { count } = await fixture.service.sql`delete from delivery_events where event_id = ${event.id}`
      return count === 1
    })
    removed.open()
    const [delivery] = await seen.having('failed', 1)
    expect(delivery).toMatchObject({ attempts: 1, nextAttemptAt: null, lastError: { kind: 'event_missing' } })
    expect(await seen.detail(delivery?.id ?? '')).toMatchObject({
      request: null,
      attemptLog: [{ number: 1 }],
    })
  })
})

describe("the drop of a day's partition", () => {
  it('fails soon on a lock that is held, and does not block the traffic', async () => {
    const webhook = await fixture.webhook('locked')
    await publishAgo('locked.created', 8)
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    await fixture.service.sql.begin(async (tx) => {
      await tx`select 1 from deliveries limit 1`
      await expect(dropDay(8)).rejects.toMatchObject({ code: '55P03' })
      await fixture.publish({ type: 'locked.created' })
      await createDeliveryReader(fixture, webhook.id).having('succeeded', 2)
    })
    expect(await droppedDay(8)).toBe('0')
    expect(await droppedDay(8)).toBe('none')
  })

  it('holds no lock that a statement it waits for needs', async () => {
    const webhook = await fixture.webhook('crossed')
    await publishAgo('crossed.created', 9)
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    await fixture.service.sql.begin(async (tx) => {
      await tx`lock table only deliveries in row exclusive mode`
      let ended = false
      const drop = dropDay(9).finally(() => {
        ended = true
      })
      drop.catch(() => {})
      // Databases copied from one template share table oids, hence the filter by database.
      const isWaiting = () =>
        tx`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
          where not l.granted and l.relation = 'deliveries'::regclass`
      await waitFor(async () => ended || (await isWaiting()).length > 0)
      await tx`set local lock_timeout = '50ms'`
      const table = tx(partitionAgo('deliveries', 9))
      expect(await tx`update ${table} set url = url returning 1 as done`).toHaveLength(1)
      await expect(drop).rejects.toMatchObject({ code: '55P03' })
    })
    expect(await droppedDay(9)).toBe('0')
  })

  it('loses no delivery that is created or recorded meanwhile', async () => {
    // Enough retries that no delivery fails permanently, whichever of its attempts are rejected.
    const schedule = { retries: 20, retry_schedule: [1] }
    const webhook = await fixture.webhook('busy', schedule, (_, count) => ({
      status: count % 5 === 0 ? 500 : 200,
    }))
    const { sql } = fixture.service
    let dropped = 0
    const published: string[] = []
    const publishing = (async () => {
      for (let round = 0; round < 30; round++) {
        const events = await Promise.all(
          Array.from({ length: 6 }, () => fixture.publish({ type: 'busy.created' })),
        )
        published.push(...events.map(({ id }) => id))
      }
    })()
    for (let ago = 200; ago < 225; ago++) {
      await sql`select add_delivery_day(${dateAgo(ago)}::date)`
      for (const drop of [
        'drop_delivery_day($1::date, false)',
        'drop_attempt_day($1::date)',
        'drop_event_day($1::date)',
      ])
        await waitFor(async () => {
          const [row] = await sql.unsafe(`select (${drop})::text as done`, [dateAgo(ago)]).catch(later)
          if (row?.done === '0' || row?.done === 'true') dropped++
          return row
        })
    }
    await publishing
    expect(dropped).toBe(75)
    const delivered = await createDeliveryReader(fixture, webhook.id).having('succeeded', published.length)
    expect(delivered.map(({ eventId }) => eventId).sort()).toEqual(published.sort())
    expect((await sql`select 1 from dead_letters`).length).toBe(0)
  })
})

function later(error: { code?: string }): [] {
  if (error.code !== '55P03') throw error
  return []
}
