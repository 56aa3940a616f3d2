import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery } from '@opsplane/contracts'
import { connect } from '@opsplane/postgres'
import { waitFor } from '@opsplane/testing'
import { buildEventId, createCapturedLog, createShiftedClock, listPartitionDays } from '../../fixture/days.js'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createDeliveryDays } from './delivery-days.js'
import { startRetention } from './retention.js'

const clock = createShiftedClock()
const { log, lines } = createCapturedLog()
let fixture: DispatcherFixture
beforeAll(async () => {
  clock.daysOff = -40
  fixture = await startDispatcher({
    overrides: { clock, log },
  })
})
afterAll(() => fixture?.stop())

const days = (table: string) => listPartitionDays(fixture.service.sql, table)
/** Waits until these days are left before a day. On timeout, reports the service's log and the locks. */
const leaving = (table: string, before: number, left: number[]) =>
  waitFor(
    async () => {
      const there = (await days(table)).filter((day) => day < before)
      if (there.join() === left.join()) return true
      const held = (await locks()).map((lock) => JSON.stringify(lock)).join('\n')
      const reported = lines.map((line) => JSON.stringify(line)).slice(-10)
      throw new Error(`there are ${there}\n${reported.join('\n')}\n${held}`)
    },
    { message: `${table} to be dropped` },
  )
const locks = () => fixture.service.sql`
  select a.pid, l.mode, l.granted, l.locktype, l.relation::regclass::text as relation, a.state, a.wait_event,
    now() - a.xact_start as transaction_age, left(a.query, 100) as query
  from pg_locks l join pg_stat_activity a using (pid)
  where a.datname = current_database() and pid <> pg_backend_pid() order by a.xact_start limit 30`
const publishNow = (type: string) => fixture.publish({ type, id: buildEventId(clock.nowMs()) })
const logged = (msg: string) => lines.filter((line) => line.msg === msg)
const moveTo = async (daysOff: number) => {
  clock.daysOff = daysOff
  await waitFor(async () => (await days('deliveries')).includes(daysOff + 2), { message: 'the days to come' })
}

describe('the partitions of deliveries', () => {
  it('are created in advance and dropped by the policy, with the events no replay needs', async () => {
    const steady = await fixture.webhook('steady')
    const paused = await fixture.webhook('paused')
    await fixture.api.patch(`/webhooks/${paused.id}`, { status: 'paused' })
    const seen = createDeliveryReader(fixture, steady.id)
    await waitFor(async () => (await days('deliveries')).includes(-38))
    expect((await days('deliveries')).filter((day) => day < 0)).toEqual([-41, -40, -39, -38])

    const oldest = await publishNow('steady.created')
    await seen.having('succeeded', 1)
    await moveTo(-39)
    await publishNow('paused.created')
    const [held] = await createDeliveryReader(fixture, paused.id).having('held', 1)
    await moveTo(-20)
    const replayedEvent = await publishNow('steady.created')
    const [original] = await seen.having('succeeded', 2)
    expect(original?.eventId).toBe(replayedEvent.id)
    expect((await seen.list()).map(({ eventId }) => eventId)).toEqual([replayedEvent.id, oldest.id])
    const before = new Date(clock.nowMs() - 5 * 86_400_000).toISOString()
    expect((await seen.list(`?createdBefore=${before}`)).map(({ eventId }) => eventId)).toEqual([oldest.id])

    // Expired days without unfinished deliveries are dropped; a day with a held delivery is kept.
    await moveTo(0)
    for (const table of ['deliveries', 'delivery_attempts', 'delivery_events'])
      await leaving(table, -30, [-39])
    expect((await seen.list()).map(({ id }) => id)).toEqual([original?.id])
    expect((await createDeliveryReader(fixture, paused.id).list()).map(({ id }) => id)).toEqual([held?.id])
    expect(logged('deliveries of a day dropped')).toContainEqual(
      expect.objectContaining({ day: dayAt(-40), deliveries: 1 }),
    )

    // The stream was filled again: events that may have been delivered already are not delivered again.
    await fixture.publish(oldest)
    await fixture.publish(replayedEvent)
    const marker = await publishNow('steady.updated')
    await waitFor(() =>
      fixture.requestsTo('steady').some(({ headers }) => headers['webhook-id'] === marker.id),
    )
    expect(fixture.requestsTo('steady').map(({ headers }) => headers['webhook-id'])).toEqual([
      oldest.id,
      replayedEvent.id,
      marker.id,
    ])
    expect(logged('events older than the retention of deliveries are not delivered')).toMatchObject([
      { events: 1, level: 40 },
    ])
    expect(await days('deliveries')).not.toContain(-40)

    const replay = (await fixture.api.post(`${seen.path}/${original?.id}/replay`)).data(Delivery)
    await waitFor(async () => (await seen.detail(replay.id)).status === 'succeeded')
    await moveTo(15)
    await leaving('deliveries', -15, [-39])
    await leaving('delivery_events', -15, [-39, -20])
    expect((await seen.detail(replay.id)).request?.body).toContain('steady.created')

    await moveTo(52)
    for (const table of ['deliveries', 'delivery_attempts', 'delivery_events']) await leaving(table, 22, [])
    expect(await createDeliveryReader(fixture, paused.id).list()).toEqual([])
    expect(logged('dropped a day of deliveries past their retention, some of them unfinished')).toMatchObject(
      [{ day: dayAt(-39), deliveries: 1, lost: 1, level: 40 }],
    )
  })
})

describe('the maintenance of the partitions', () => {
  it('continues after Postgres was unavailable, and stops on request', async () => {
    const { env } = fixture
    const away = connect('postgres://none@127.0.0.1:1/none', { schema: 'dispatcher', max: 1 })
    const back = connect(env.DATABASE_URL ?? '', { schema: 'dispatcher', max: 1 })
    const kept = createCapturedLog()
    const own = createShiftedClock()
    own.daysOff = 80
    // One object for both, like a client that reconnects.
    const database = { ...away }
    const makes = { away: createDeliveryDays(away.sql), back: createDeliveryDays(back.sql) }
    const days = {
      ...makes.away,
      ensure: (instants: readonly number[]) =>
        database.sql === away.sql ? makes.away.ensure(instants) : makes.back.ensure(instants),
    }
    const options = { random: () => 0.5, keptDays: 3_650, heldDays: 3_650, nowMs: own.nowMs, log: kept.log }
    const retention = startRetention({ ...options, database, days })
    try {
      await waitFor(() => kept.lines.length > 0)
      expect(kept.lines).toMatchObject([
        { level: 40, msg: 'partitions of deliveries could not be created or dropped; trying again' },
      ])
      database.sql = back.sql
      own.daysOff += 1
      await waitFor(async () => (await listPartitionDays(fixture.service.sql, 'deliveries')).includes(83))
    } finally {
      await retention.close()
      await away.close()
      await back.close()
    }
    expect(kept.lines).toHaveLength(1)
  })
})

const dayAt = (daysOff: number) => new Date(Date.now() + daysOff * 86_400_000).toISOString().slice(0, 10)
