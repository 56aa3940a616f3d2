import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DiscardPolicy } from '@nats-io/jetstream'
import { natsNames, newId, systemActor } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import type { CommittedEvent } from '../append/commit.js'
import { openManager, streamMessages } from '../fixture/stream-messages.js'
import {
  captureWarnings,
  log,
  meta,
  openTestStore,
  openTicketArguments,
  schema,
  type TestStore,
  tenant,
} from '../fixture/test-database.js'
import { formatEnvelope, type LoggedEvent, loggedEventColumns } from '../logged-events.js'
import { type Relay, startRelay } from './relay.js'
import { republishEvents } from './republish-events.js'

const counted = { kind: 'count', now: '2026-01-01T00:00:00.000Z' } as const

describe('the relay', () => {
  let testStore: TestStore
  let link: NatsLink
  let names: ReturnType<typeof natsNames>
  const relays: Relay[] = []

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'relay-test', log })
  })
  beforeEach(async () => {
    testStore = await openTestStore()
    names = natsNames(uniquePrefix())
  })
  afterEach(async () => {
    for (const relay of relays.splice(0)) await relay.close()
    await testStore.close()
  })
  afterAll(() => link.close())

  const start = (instanceId = 'one', relayLog = log) => {
    const relay = startRelay({ ...testStore, schema, link, names, instanceId, log: relayLog })
    relays.push(relay)
    return relay
  }
  const isActive = (relay: Relay) => waitFor(() => relay.counters().active)
  const waiting = async () => {
    const [row] = await testStore.database.sql<{ n: number }[]>`select count(*)::int as n from outbox`
    return row?.n
  }
  const drained = () => waitFor(async () => (await waiting()) === 0, { message: 'the relay to drain' })
  const loggedEvents = () =>
    testStore.database.sql.unsafe<LoggedEvent[]>(
      `select ${loggedEventColumns} from events as e order by position`,
    )

  test('publishes every event once, identical to the log, in order within each aggregate', async () => {
    const relay = start()
    const one = testStore.replica({ onCommit: relay.offer })
    const other = testStore.replica()
    const opened = Array.from({ length: 20 }, () => openTicketArguments())
    await Promise.all(
      opened.map(async ([id, open]) => {
        await one.tickets.create(id, open, meta())
        for (let round = 0; round < 5; round++)
          await (round % 2 === 0 ? other : one).tickets.handle(id, counted, meta())
      }),
    )
    relay.wake()
    await drained()

    const messages = await streamMessages(link, names)
    expect(messages).toHaveLength(120)
    for (const [id] of opened) {
      const own = messages.filter(({ event }) => event.resource.id === id)
      expect(own.map(({ event }) => event.version)).toEqual([1, 2, 3, 4, 5, 6])
    }
    const logged = new Map((await loggedEvents()).map((event) => [event.id, event]))
    for (const { event, body, position, source } of messages) {
      const row = logged.get(event.id)
      expect(body).toBe(row && formatEnvelope(row))
      expect([source, position]).toEqual([schema, Number(row?.position)])
    }
    const [first] = messages
    expect(first?.subject).toBe(names.eventSubject({ ...tenant, type: 'ticket.opened' }))
    expect(first?.event).toMatchObject({ workspaceId: 'ws_1', requestId: 'request-1', causationId: null })
    expect(JSON.stringify(messages)).not.toContain('hash of')
    expect(relay.counters().published).toBe(120)
  })

  test('adds a low watermark to each event that never exceeds the published positions', async () => {
    const relay = start()
    const { tickets } = testStore.replica({ onCommit: relay.offer })
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 10 }, () => tickets.create(...openTicketArguments(), meta())))
      const known = await waitFor(async () => {
        await tickets.create(...openTicketArguments(), meta())
        return (await streamMessages(link, names)).at(-1)?.floor ?? 0
      })
      expect(known).toBeGreaterThan(0)
    }
    await drained()
    const published = new Set<number>()
    for (const { position, floor } of await streamMessages(link, names)) {
      for (let below = 1; below <= floor; below++) expect(published.has(below)).toBe(true)
      published.add(position)
    }
  })

  test('publishes offered events from memory, without reading them from Postgres', async () => {
    const relay = start()
    await isActive(relay)
    let offered: readonly CommittedEvent[] = []
    const { tickets } = testStore.replica({
      onCommit: (events) => {
        offered = events
      },
    })
    // Its replica sends no wake-up, so the relay finds this event at its next poll of the outbox.
    await tickets.create(...openTicketArguments(), meta())
    relay.wake()
    await drained()
    const [known] = offered
    if (!known) throw new Error('nothing was offered')
    const nowhereElse = { ...known, id: newId('event'), streamId: newId('incident'), position: '1000' }
    relay.offer([known, nowhereElse, { ...nowhereElse, id: newId('event'), version: 2, position: '1001' }])
    await waitFor(() => relay.counters().published === 3)
    expect((await streamMessages(link, names)).map(({ position }) => position)).toEqual([1, 1000, 1001])
  })

  test('resumes immediately on a restarted replica, and on another when the lease is released', async () => {
    const first = start('one')
    await isActive(first)
    const again = start('one')
    await isActive(again)
    const standby = start('two')
    const { tickets } = testStore.replica({ onCommit: again.offer })
    await tickets.create(...openTicketArguments(), meta())
    await drained()
    await waitFor(() => !first.counters().active)
    await first.close()
    await again.close()
    await testStore.replica({ onCommit: standby.offer }).tickets.create(...openTicketArguments(), meta())
    await drained()
    await isActive(standby)
    expect(await streamMessages(link, names)).toHaveLength(2)
  })

  test('deletes nothing from the outbox after it lost its lease', async () => {
    const relay = start('one')
    await isActive(relay)
    await testStore.database.sql`update leases set owner = 'two', fence = fence + 1, expires_at = 'infinity'`
    const { tickets } = testStore.replica({ onCommit: relay.offer })
    await tickets.create(...openTicketArguments(), meta())
    await waitFor(() => !relay.counters().active)
    expect(await waiting()).toBe(1)
    await testStore.database.sql`update leases set expires_at = '-infinity'`
    await drained()
    expect(await streamMessages(link, names)).toHaveLength(1)
  })

  test('publishes events of another replica on its notification, without a poll', async () => {
    const active = start('one')
    await isActive(active)
    const standby = start('two')
    const { tickets } = testStore.replica({ onCommit: standby.offer })
    for (let round = 0; round < 20; round++) {
      await tickets.create(...openTicketArguments(), meta())
      await drained()
    }
    expect(active.counters()).toMatchObject({ published: 20, active: true })
    expect(standby.counters()).toMatchObject({ published: 0, active: false })
  })

  test('survives a lost connection to the database', async () => {
    const relay = start()
    const { tickets } = testStore.replica({ onCommit: relay.offer })
    await tickets.create(...openTicketArguments(), meta())
    await drained()
    await testStore.database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${`opsplane-${schema}-relay`}`
    await tickets.create(...openTicketArguments(), meta())
    await drained()
    expect(await streamMessages(link, names)).toHaveLength(2)
  })

  test('dead-letters an event that NATS can never accept, and continues', async () => {
    const { tickets } = testStore.replica()
    const limit = (await link.ready()).info?.max_payload ?? 0
    const [large, openLarge] = openTicketArguments('x'.repeat(limit))
    await tickets.create(large, openLarge, meta({ actor: systemActor }))
    const [fine, open] = openTicketArguments()
    await tickets.create(fine, open, meta())
    start()
    await drained()
    const messages = await streamMessages(link, names)
    expect(messages.map(({ event }) => event.resource.id)).toEqual([fine])
    const letters = await testStore.database.sql`select consumer, error from dead_letters`
    expect(letters).toMatchObject([{ consumer: 'relay', error: expect.stringContaining('max_payload') }])
  })

  test('logs once that the stream rejects its events, and continues when it accepts them', async () => {
    const { lines, log: warnings } = captureWarnings()
    const relay = start('one', warnings)
    await isActive(relay)
    const { streams } = await openManager(link)
    await streams.update(names.eventsStream, { discard: DiscardPolicy.New, max_msgs: 2 })
    const { tickets } = testStore.replica({ onCommit: relay.offer })
    for (let index = 0; index < 4; index++) await tickets.create(...openTicketArguments(), meta())
    const refused = () => lines.filter((line) => line.includes('an event is refused'))
    await waitFor(() => refused().length > 0)
    await streams.update(names.eventsStream, { max_msgs: -1 })
    await drained()
    expect(refused()).toEqual([expect.stringContaining('maximum messages exceeded')])
    expect(await streamMessages(link, names)).toHaveLength(4)
  })

  test('publishes a range of the log again when an operator requests it', async () => {
    const { tickets } = testStore.replica()
    for (let index = 0; index < 3; index++) await tickets.create(...openTicketArguments(), meta())
    const range = { databaseUrl: testStore.url, schema, link, names }
    expect(await republishEvents({ ...range, fromPosition: 2 })).toEqual({ published: 2 })
    expect(await republishEvents(range)).toEqual({ published: 3 })
    expect((await streamMessages(link, names)).map(({ position }) => position).toSorted()).toEqual([1, 2, 3])
    start()
    await drained()
    expect(await streamMessages(link, names)).toHaveLength(3)
  })
})
