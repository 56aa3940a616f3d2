import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { ApiError, eventHeaders, type PlatformEvent } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink, streamSequences } from '@opsplane/nats'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { sql } from 'drizzle-orm'
import { openRelayedStore, type RelayedStore } from '../fixture/relayed-store.js'
import { longTimeout, openManager } from '../fixture/stream-messages.js'
import { captureWarnings, log, meta, openTicketArguments, schema } from '../fixture/test-database.js'
import {
  type ConsumeEventsOptions,
  type ConsumerSettings,
  consumeEvents,
  type Handling,
  type Performing,
} from './consume.js'
import { listDeadLetters, markForRedrive } from './dead-letters.js'
import { redriveSubject } from './redrive.js'
import type { Transaction } from './transaction.js'

describe('consumeEvents', () => {
  let store: RelayedStore
  let testStore: RelayedStore['testStore']
  let replica: RelayedStore['replica']
  let link: NatsLink
  let names: RelayedStore['names']
  const closing: (() => Promise<void>)[] = []

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'consume-test', log })
  })
  beforeEach(async () => {
    store = await openRelayedStore(link)
    ;({ testStore, names, replica } = store)
    await testStore.database
      .sql`create table seen (id text primary key, subject_id text, version int, at serial)`
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
    await store.close()
  })
  afterAll(() => link.close())

  const record = async (events: PlatformEvent[], tx: Transaction) => {
    for (const { id, resource, version } of events)
      await tx.execute(
        sql`insert into seen (id, subject_id, version) values (${id}, ${resource.id}, ${version}) on conflict do nothing`,
      )
  }
  const consume = (options: Partial<ConsumerSettings> & Partial<Handling> = {}) =>
    start({ ...settings(), handle: record, ...options })
  const perform = (run: Performing['perform']) => start({ ...settings(), perform: run })
  const settings = () => {
    const retry = { baseMs: 20, maxMs: 50 }
    const history = { of: 'gap' as const, logs: [] }
    return { database: testStore.database, link, names, durable: 'test-seen', log, retry, history }
  }
  const start = (options: ConsumeEventsOptions) => {
    const consumer = consumeEvents(options)
    closing.push(consumer.close)
    return consumer
  }
  const seen = () => testStore.database.sql<{ id: string; subject_id: string; version: number }[]>`
    select id, subject_id, version from seen order by at`
  const allSeen = (count: number) => waitFor(async () => (await seen()).length === count)
  const create = async (title?: string) => {
    const [id, open] = openTicketArguments(title)
    await replica.tickets.create(id, open, meta())
    return id
  }
  const count = (id: string) =>
    replica.tickets.handle(id, { kind: 'count', now: '2026-01-01T00:00:00.000Z' }, meta())
  const consumerState = async () => (await openManager(link)).consumers.info(names.eventsStream, 'test-seen')

  test('applies every event in order and records a checkpoint', async () => {
    const consumer = consume()
    const ids = await Promise.all(Array.from({ length: 30 }, () => create()))
    await Promise.all([...ids, ...ids].map((id) => count(id)))
    await allSeen(90)
    const rows = await seen()
    for (const id of ids)
      expect(rows.filter((row) => row.subject_id === id).map(({ version }) => version)).toEqual([1, 2, 3])
    await waitFor(() => consumer.counters().handled === 90)
    const [checkpoint] = await testStore.database.sql`select * from consumer_checkpoints`
    expect(checkpoint).toMatchObject({ consumer: 'test-seen', stream_sequence: '90', handled: '90' })
    await waitFor(async () => (await consumerState()).num_ack_pending === 0)
  })

  test('retries failed batches of a handler that commits by itself, and records a checkpoint afterwards', async () => {
    let failures = 1
    const consumer = perform(async (events) => {
      await testStore.database.db.transaction((tx) => record(events, tx))
      if (events.some(({ version }) => version === 2) && failures-- > 0) throw new Error('not yet')
    })
    const id = await create()
    await count(id)
    await count(id)
    await waitFor(() => consumer.counters().handled === 3)
    expect((await seen()).map(({ version }) => version)).toEqual([1, 2, 3])
    const kept = async () => (await testStore.database.sql`select * from consumer_checkpoints`)[0]
    const checkpoint = { consumer: 'test-seen', stream_sequence: '3', handled: '3' }
    await waitFor(async () => (await kept())?.handled === checkpoint.handled)
    expect(await kept()).toMatchObject(checkpoint)
  })

  test('records its checkpoint before it closes', async () => {
    const consumer = perform(async () => {})
    for (let n = 1; n <= 3; n++) {
      await create()
      await waitFor(() => consumer.counters().handled === n)
    }
    await consumer.close()
    const [checkpoint] = await testStore.database.sql`select * from consumer_checkpoints`
    expect(checkpoint).toMatchObject({ consumer: 'test-seen', stream_sequence: '3', handled: '3' })
  })

  test('logs once that its checkpoint cannot be written, and writes it once that is possible', async () => {
    const { sql } = testStore.database
    const { lines, log } = captureWarnings()
    const consumer = start({ ...settings(), log, perform: async () => {} })
    await create()
    await waitFor(() => consumer.counters().handled === 1)
    await sql`alter table consumer_checkpoints add constraint refused check (handled < 0) not valid`
    await create()
    // On a busy machine the connection to the server may have been lost as well.
    const refused = () => lines.filter((line) => line.includes('refused'))
    await waitFor(() => refused().length > 0)
    await sql`alter table consumer_checkpoints drop constraint refused`
    await waitFor(async () => (await sql`select handled from consumer_checkpoints`)[0]?.handled === '2')
    expect(refused()).toHaveLength(1)
  })

  test('continues where it stopped, and restarts when its durable was deleted', async () => {
    const first = consume()
    await create()
    await allSeen(1)
    await first.close()
    await create()
    const second = consume()
    await allSeen(2)
    await waitFor(() => second.counters().handled === 1)

    await (await openManager(link)).consumers.delete(names.eventsStream, 'test-seen')
    await create()
    await allSeen(3)
    expect((await consumerState()).delivered.stream_seq).toBe(3)
  })

  test('retries an event that fails, and delays later events of its aggregate', async () => {
    // More failures than are needed to isolate it from the others.
    let failures = 6
    const consumer = consume({
      async handle(events, tx) {
        const hit = events.some(({ version, data }) => version === 2 && data.after?.title === 'Fragile')
        await record(events, tx)
        if (hit && failures-- > 0) throw new Error('not yet')
      },
    })
    const fragile = await create('Fragile')
    const others = await Promise.all(Array.from({ length: 5 }, () => create()))
    await count(fragile)
    await count(fragile)
    await allSeen(8)
    const rows = await seen()
    expect(rows.filter((row) => row.subject_id === fragile)).toHaveLength(3)
    expect(rows.filter((row) => others.includes(row.subject_id))).toHaveLength(5)
    expect(consumer.counters()).toMatchObject({ deadLettered: 0 })
    expect(consumer.counters().retried).toBeGreaterThan(0)
  })

  test('reports stream positions of events, also after the stream is recreated, and the low watermark', async () => {
    const placed: string[] = []
    consume({
      async handle(events, tx, { sequences }) {
        await record(events, tx)
        placed.push(...(await sequences()))
      },
    })
    const asked = streamSequences(link, names.eventsStream)
    const floor = async () => (await asked.lowWatermark('test-seen')).split('/', 2).join('/')
    for (const title of ['first', 'second', 'third']) await create(title)
    await allSeen(3)
    await waitFor(async () => (await floor()) === placed.at(-1))
    expect(placed.map((place) => Number(place.split('/')[1]))).toEqual([1, 2, 3])

    const manager = await openManager(link)
    await manager.streams.delete(names.eventsStream)
    await ensureStreams(link, names)
    asked.forget()
    await create('in the new stream')
    await allSeen(4)
    await waitFor(async () => (await floor()) === placed.at(-1))
    const [before, now] = [placed[0], placed.at(-1)].map((place) => place?.split('/')[0])
    expect(now).not.toBe(before)
    expect(placed.toSorted()).toEqual(placed)
  })

  test('dead-letters an event that always fails, and no other', async () => {
    const consumer = consume({
      maxDeliveries: 3,
      async handle(events, tx) {
        await record(events, tx)
        if (events.some(({ data }) => data.after?.title === 'Poison')) throw new Error('cannot be handled')
      },
    })
    const poison = await create('Poison')
    const fine = await create()
    await allSeen(1)
    await waitFor(() => consumer.counters().deadLettered === 1)
    expect((await seen()).map((row) => row.subject_id)).toEqual([fine])
    const letters = await testStore.database.sql`select * from dead_letters`
    expect(letters).toMatchObject([
      {
        consumer: 'test-seen',
        ...{ error: 'Error: cannot be handled', cause: 'Error' },
        deliveries: 3,
        message_id: expect.stringMatching(/^evt_/),
      },
    ])
    expect(JSON.parse(letters[0]?.payload)).toMatchObject({ resource: { id: poison } })
    await waitFor(async () => (await consumerState()).num_ack_pending === 0)
  })

  test.each(['handle', 'perform'] as const)(
    'passes a redriven dead letter to its handler again: %s',
    async (how) => {
      let isBroken = true
      const apply = async (events: PlatformEvent[], tx: Transaction) => {
        if (isBroken && events.some(({ data }) => data.after?.title === 'Poison'))
          throw new Error('cannot be handled')
        await record(events, tx)
      }
      const consumer = start({
        ...settings(),
        maxDeliveries: 1,
        ...(how === 'handle'
          ? { handle: apply }
          : { perform: (events) => testStore.database.db.transaction((tx) => apply(events, tx)) }),
      })
      const poison = await create('Poison')
      await waitFor(() => consumer.counters().deadLettered === 1)
      const target = { databaseUrl: testStore.url, schema }
      const letters = () => listDeadLetters(target, { limit: 10 })
      const redrive = async () => {
        const marked = await markForRedrive(target, {})
        ;(await link.ready()).publish(redriveSubject(names, 'test-seen'))
        return marked
      }

      expect(await redrive()).toMatchObject([{ id: 1, consumer: 'test-seen' }])
      await waitFor(async () => (await letters())[0]?.deliveries === 2)
      expect(await letters()).toMatchObject([{ redrivenAt: null, error: 'Error: cannot be handled' }])
      expect(await seen()).toEqual([])

      isBroken = false
      await redrive()
      await waitFor(async () => (await letters()).length === 0)
      expect((await seen()).map((row) => row.subject_id)).toEqual([poison])
    },
  )

  test('redrives letters marked while no consumer ran, also behind events that wait for a dependency', async () => {
    const first = consume({
      maxDeliveries: 1,
      handle: async () => {
        throw new Error('cannot be handled')
      },
    })
    await create('Stuck')
    const others = [await create(), await create()]
    await waitFor(() => first.counters().deadLettered === 3)
    await first.close()
    await markForRedrive({ databaseUrl: testStore.url, schema }, { consumer: 'test-seen' })
    consume({
      async handle(events, tx) {
        if (events.some(({ data }) => data.after?.title === 'Stuck'))
          throw new ApiError('service_unavailable', 'It is away.')
        await record(events, tx)
      },
    })
    await allSeen(2)
    expect((await seen()).map((row) => row.subject_id)).toEqual(expect.arrayContaining(others))
    const left = testStore.database.sql`select deliveries, redriven_at is null as failed from dead_letters`
    expect([...(await left)]).toEqual([{ deliveries: 1, failed: false }])
  })

  test('logs once that dead letters to redrive cannot be read, and continues when they can', async () => {
    const { sql } = testStore.database
    const { lines, log } = captureWarnings()
    await sql`alter table dead_letters rename to elsewhere`
    consume({ log })
    const said = () =>
      lines.map((line) => String(JSON.parse(line).msg)).filter((text) => text.includes('dead letter'))
    await waitFor(() => said().length > 0)
    const event = { workspaceId: 'ws_1', environment: 'production', type: 'odd.one' } as const
    await sql`
      insert into elsewhere (consumer, message_id, subject, stream_sequence, payload, error, deliveries, redriven_at)
      values ('test-seen', 'odd', ${names.eventSubject(event)}, 1, 'not json', '', 1, now())`
    await sql`alter table elsewhere rename to dead_letters`
    await waitFor(async () => (await sql`select redriven_at from dead_letters`)[0]?.redriven_at === null)
    expect(said()).toEqual([
      'the search for dead letters to redrive was interrupted, still trying',
      'a dead letter that was redriven has failed again; see its error',
    ])
  })

  test('dead-letters an event published under the subject of another workspace', async () => {
    const consumer = consume()
    await create()
    await allSeen(1)
    const manager = await openManager(link)
    const stored = await manager.streams.getMessage(names.eventsStream, { seq: 1 })
    const forged = { workspaceId: 'ws_other', environment: 'production', type: 'ticket.opened' } as const
    await jetstream(await link.ready(), longTimeout).publish(
      names.eventSubject(forged),
      stored?.string() ?? '',
    )
    await waitFor(() => consumer.counters().deadLettered === 1)
    const [letter] = await testStore.database.sql`select subject, error from dead_letters`
    expect(letter).toEqual({
      subject: names.eventSubject(forged),
      error: expect.stringContaining('subject_mismatch'),
    })
    expect(await seen()).toHaveLength(1)
  })

  test.each([
    ['not json', 'not json'],
    // Postgres text cannot contain this character.
    ['not\0json', 'not�json'],
  ])('dead-letters a message it cannot parse: %j', async (body, payload) => {
    const subject = names.eventSubject({ workspaceId: 'ws_1', environment: 'production', type: 'odd.one' })
    const carried = headers()
    carried.set(eventHeaders.messageId, `id of ${body}`)
    carried.set(eventHeaders.source, `source of ${body}`)
    carried.set(eventHeaders.position, body)
    await jetstream(await link.ready(), longTimeout).publish(subject, body, { headers: carried })
    const consumer = consume()
    await create()
    await allSeen(1)
    await waitFor(() => consumer.counters().deadLettered === 1)
    expect(await testStore.database.sql`select * from dead_letters`).toMatchObject([
      {
        payload,
        subject,
        message_id: `id of ${payload}`,
        source: `source of ${payload}`,
        source_position: null,
      },
    ])
  })

  test('waits while a dependency is unavailable, however often it fails, without dead-lettering events', async () => {
    let away = 12
    const consumer = consume({
      maxDeliveries: 2,
      async handle(events, tx) {
        await record(events, tx)
        if (away > 0) {
          // Kept small, because each wait is longer than the one before.
          away = away > 5 ? 5 : away - 1
          throw new ApiError('service_unavailable', 'away')
        }
      },
    })
    await create()
    await allSeen(1)
    expect(consumer.counters()).toMatchObject({ deadLettered: 0, retried: 0 })
    const { num_redelivered } = await consumerState()
    expect(num_redelivered).toBe(0)
  })

  test('survives the loss of its database connections', async () => {
    consume()
    await create()
    await allSeen(1)
    await testStore.database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    await waitFor(() => create().catch(() => false))
    await waitFor(async () => (await seen()).length >= 2)
  })

  test('receives only the events of its filter subjects, also with several filters', async () => {
    const subjects = ['ticket.opened', 'ticket.closed'].map((type) =>
      names.eventSubject({ workspaceId: 'ws_1', environment: 'production', type }),
    )
    consume({ filterSubjects: subjects })
    const id = await create()
    await count(id)
    await replica.tickets.handle(id, { kind: 'close', now: '2026-01-01T00:00:00.000Z' }, meta())
    await allSeen(2)
    expect((await seen()).map(({ version }) => version)).toEqual([1, 4])
    await waitFor(async () => (await consumerState()).num_ack_pending === 0)
  })
})
