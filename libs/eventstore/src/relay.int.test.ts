import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstreamManager } from '@nats-io/jetstream'
import { natsNames, PlatformEvent, systemActor } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink } from '@opsplane/nats'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import { log, meta, opening, openTestStore, schema, type TestStore, tenant } from './fixture/test-database.js'
import { type LoggedEvent, loggedEventColumns } from './logged-events.js'
import { publishEvents } from './publish-events.js'
import { startRelay } from './relay.js'
import { reseed } from './reseed.js'

const counted = { kind: 'count', now: '2026-01-01T00:00:00.000Z' } as const

describe('the relay', () => {
  let testStore: TestStore
  let link: NatsLink
  let names: ReturnType<typeof natsNames>

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'relay-test', log })
  })
  beforeEach(async () => {
    testStore = await openTestStore()
    names = natsNames(uniquePrefix())
  })
  afterEach(() => testStore.close())
  afterAll(() => link.close())

  const start = (over: NatsLink = link) =>
    startRelay({ databaseUrl: testStore.url, schema, link: over, names, log })

  const unpublished = async () => {
    const [row] = await testStore.database.sql<{ n: number }[]>`
      select count(*)::int as n from outbox`
    return row?.n
  }
  const drained = () => waitFor(async () => (await unpublished()) === 0, { message: 'the relay to drain' })

  const loggedEvents = () =>
    testStore.database.sql.unsafe<LoggedEvent[]>(
      `select ${loggedEventColumns} from events as e order by position`,
    )

  test('publishes every event once, as the log has it, in order within each aggregate', async () => {
    const relay = start()
    const { tickets } = testStore.replica(relay.wake)
    const opened = Array.from({ length: 20 }, () => opening())
    await Promise.all(
      opened.map(async ([id, open]) => {
        await tickets.create(id, open, meta())
        for (let round = 0; round < 5; round++) await tickets.handle(id, counted, meta())
      }),
    )
    await drained()
    await relay.close()

    const messages = await streamMessages(link, names)
    expect(messages).toHaveLength(120)
    for (const [id] of opened) {
      const own = messages.filter(({ event }) => event.resource.id === id)
      expect(own.map(({ event }) => event.version)).toEqual([1, 2, 3, 4, 5, 6])
    }
    const [first] = messages
    expect(first?.subject).toBe(names.eventSubject({ ...tenant, type: 'ticket.opened' }))
    expect(first?.event).toMatchObject({
      workspaceId: 'ws_1',
      requestId: 'request-1',
      causationId: null,
      data: { before: null, after: { status: 'open' } },
    })
    expect(JSON.stringify(messages)).not.toContain('hash of')
    // More where an acknowledgement was lost.
    expect(relay.counters().published).toBeGreaterThanOrEqual(120)
    expect(relay.counters().active).toBe(false)
  })

  test('repeats what was published but not marked, without a second message', async () => {
    const { tickets } = testStore.replica()
    for (let index = 0; index < 10; index++) await tickets.create(...opening(), meta())
    await ensureStreams(link, names)
    const outcome = await publishEvents(await link.ready(), names, await loggedEvents())
    expect(outcome).toMatchObject({ published: { length: 10 }, failure: undefined })
    expect(await unpublished()).toBe(10)

    const relay = start()
    await drained()
    await relay.close()
    expect(await streamMessages(link, names)).toHaveLength(10)
  })

  test('has one active per service; another takes over when its connection is lost or closed', async () => {
    const relays = [start(), start()]
    const active = () => relays.filter((relay) => relay.counters().active)
    await waitFor(() => active().length === 1)
    const { tickets } = testStore.replica()
    await tickets.create(...opening(), meta())
    await drained()

    await testStore.database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${`opsplane-${schema}-relay`}`
    await tickets.create(...opening(), meta())
    await drained()
    await waitFor(() => active().length === 1)
    await active()[0]?.close()
    await tickets.create(...opening(), meta())
    await drained()
    for (const relay of relays) await relay.close()
    expect(await streamMessages(link, names)).toHaveLength(3)
  })

  test('gives up what NATS can never take, and goes on', async () => {
    const { tickets } = testStore.replica()
    const limit = (await link.ready()).info?.max_payload ?? 0
    await tickets.create(...opening('x'.repeat(limit)), meta({ actor: systemActor }))
    const [fine, open] = opening()
    await tickets.create(fine, open, meta())
    const relay = start()
    await drained()
    await relay.close()
    const messages = await streamMessages(link, names)
    expect(messages.map(({ event }) => event.resource.id)).toEqual([fine])
    const letters = await testStore.database.sql`select consumer, error from dead_letters`
    expect(letters).toMatchObject([{ consumer: 'relay', error: expect.stringContaining('max_payload') }])
  })

  test('outlasts NATS: events queue in Postgres, and reseed fills an empty JetStream', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'relay-nats-'))
    let server: EmbeddedNats = await startEmbeddedNats({ storeDir })
    const own = connectNats({ url: server.url, name: 'relay-outage', log })
    const relay = start(own)
    try {
      const { tickets } = testStore.replica(relay.wake)
      await tickets.create(...opening(), meta())
      await drained()

      await server.stop()
      await waitFor(() => !own.connected())
      const [id, open] = opening()
      await tickets.create(id, open, meta())
      await tickets.handle(id, counted, meta())
      expect(await unpublished()).toBe(2)
      server = await startEmbeddedNats({ storeDir, port: server.port })
      await waitFor(async () => (await unpublished()) === 0)
      expect(await streamMessages(own, names)).toHaveLength(3)

      await server.stop()
      rmSync(storeDir, { recursive: true })
      server = await startEmbeddedNats({ storeDir, port: server.port })
      const before = await loggedEvents()
      const range = { databaseUrl: testStore.url, schema, link: own, names }
      expect(await reseed({ ...range, fromPosition: 2 })).toEqual({ published: 2 })
      expect(await reseed(range)).toEqual({ published: 3 })
      const ids = (await streamMessages(own, names)).map(({ event }) => event.id)
      expect(ids.toSorted()).toEqual(before.map((event) => event.id).toSorted())

      // The stream vanishing under a running relay is repaired by the relay itself.
      await (await jetstreamManager(await own.ready())).streams.delete(names.eventsStream)
      await tickets.create(...opening(), meta())
      await drained()
      expect(await streamMessages(own, names)).toHaveLength(1)
    } finally {
      await relay.close()
      await own.close()
      await server.stop()
      rmSync(storeDir, { recursive: true, force: true })
    }
  })
})

/** Everything in the events stream, in its order. */
async function streamMessages(link: NatsLink, names: ReturnType<typeof natsNames>) {
  const manager = await jetstreamManager(await link.ready())
  const { state } = await manager.streams.info(names.eventsStream)
  const messages: { subject: string; event: PlatformEvent }[] = []
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(names.eventsStream, { seq })
    if (message) messages.push({ subject: message.subject, event: PlatformEvent.parse(message.json()) })
  }
  return messages
}
