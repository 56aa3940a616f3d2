import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError, type PlatformEvent } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { sql } from 'drizzle-orm'
import { openRelayedStore, type RelayedStore } from '../fixture/relayed-store.js'
import { openManager } from '../fixture/stream-messages.js'
import { log, meta, openTicketArguments, schema } from '../fixture/test-database.js'
import { type ConsumeEventsOptions, consumeEvents, type EventBatch } from './consume.js'
import { type LogSource, ownLog } from './log-pages.js'
import type { Transaction } from './transaction.js'

describe('a consumer that backfills from the logs', () => {
  let store: RelayedStore
  let testStore: RelayedStore['testStore']
  let replica: RelayedStore['replica']
  let link: NatsLink
  let names: RelayedStore['names']
  let logs: LogSource[]
  /** The title of each handled event, in order, including repetitions. */
  let handled: string[]
  let positions: number[]
  let held: Promise<void>
  const closing: (() => Promise<void>)[] = []

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'history-test', log })
  })
  beforeEach(async () => {
    store = await openRelayedStore(link)
    ;({ testStore, names, replica } = store)
    await testStore.database.sql`create table seen (id text primary key, title text, at serial)`
    await expectExpiry()
    logs = [ownLog(schema, testStore.database)]
    handled = []
    positions = []
    held = Promise.resolve()
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
    await store.close()
  })
  afterAll(() => link.close())

  const record = async (events: PlatformEvent[], tx: Transaction, { origins }: EventBatch) => {
    await held
    positions.push(...origins.map(({ position }) => position ?? 0))
    for (const { id, data } of events) {
      handled.push(id)
      await tx.execute(
        sql`insert into seen (id, title) values (${id}, ${String(data.after?.title)}) on conflict do nothing`,
      )
    }
  }
  const consume = (
    of: 'all' | 'gap',
    options: Partial<Pick<ConsumeEventsOptions, 'filterSubjects' | 'maxAckPending'>> = {},
  ) => {
    const consumer = consumeEvents({
      ...{ database: testStore.database, link, names, durable: 'test-history', log, ...options },
      retry: { baseMs: 20, maxMs: 50 },
      // Messages a restarted consumer left unacknowledged are redelivered after this time.
      ackWaitMs: 2_000,
      history: { of, logs },
      handle: record,
    })
    closing.push(consumer.close)
    return consumer
  }
  const create = async (...titles: string[]) => {
    for (const title of titles) await createSlow(0, title)
  }
  /** Creates a ticket with a clock that is `minutes` slow. */
  const createSlow = async (minutes: number, title: string) => {
    const [id, open] = openTicketArguments(title)
    const now = new Date(Date.now() - minutes * 60_000).toISOString()
    await replica.tickets.create(id, open, meta({ now }))
  }
  const seen = async () =>
    (await testStore.database.sql<{ title: string }[]>`select title from seen order by at`).map(
      ({ title }) => title,
    )
  const allSeen = (...titles: string[]) =>
    waitFor(async () => {
      expect((await seen()).toSorted()).toEqual(titles.toSorted())
      return true
    })
  const streams = async () => (await openManager(link)).streams
  const inStream = (count: number) =>
    waitFor(async () => (await (await streams()).info(names.eventsStream)).state.last_seq === count)
  /** With a limit per subject, the relay takes `expire` for expiry; otherwise it refills the stream. */
  const expectExpiry = async () =>
    (await streams()).update(names.eventsStream, { max_msgs_per_subject: 1_000 })
  /** Purges the stream as if its messages were too old, except the last `keep`. */
  const expire = async (keep = 0) => {
    const { state } = await (await streams()).info(names.eventsStream)
    await (await streams()).purge(names.eventsStream, { seq: state.last_seq + 1 - keep })
  }
  const floorOf = async () => {
    const [row] = await testStore.database.sql`
      select position from consumer_floors where consumer = 'test-history' and source = ${schema}`
    return Number(row?.position ?? 0)
  }
  /** Waits until the consumer has recorded its place. */
  const settled = (sequence: number) =>
    waitFor(async () => {
      const [row] = await testStore.database.sql`
        select ack_floor from consumer_checkpoints where consumer = 'test-history'`
      return Number(row?.ack_floor) >= sequence
    })

  /** Waits until the consumer has recorded its place once more. */
  const writesPlace = async () => {
    const version = async () =>
      (await testStore.database.sql`select xmin::text from consumer_checkpoints`)[0]?.xmin
    const before = await version()
    await waitFor(async () => (await version()) !== before)
  }

  test('starts a projection with the events that the stream no longer has', async () => {
    await create('first', 'second')
    await inStream(2)
    await expire()
    await create('third')
    await inStream(3)
    consume('all')
    await allSeen('first', 'second', 'third')
    expect((await seen()).slice(0, 2)).toEqual(['first', 'second'])
    await create('fourth')
    await allSeen('first', 'second', 'third', 'fourth')
  })

  test('fills a projection when messages expired while it was down', async () => {
    const first = consume('all')
    await create('first')
    await allSeen('first')
    await settled(1)
    await first.close()
    await create('second', 'third')
    await inStream(3)
    await expire()
    consume('all')
    await allSeen('first', 'second', 'third')
  })

  test.each([
    ['all', []],
    ['what came meanwhile', ['fourth']],
  ])('reads the logs again when the stream lost %s while they were read', async (_, kept) => {
    await create('first')
    await inStream(1)
    await expire()
    await create('second')
    await inStream(2)
    const [own] = logs
    let reads = 0
    logs = [
      {
        source: schema,
        end: async () => (await own?.end()) ?? 0,
        async page(query) {
          const page = await own?.page(query)
          if (reads++ === 0) {
            await create('third')
            await inStream(3)
            await expire()
            await create(...kept)
            await inStream(3 + kept.length)
          }
          return page ?? { events: [], next: null }
        },
      },
    ]
    consume('all')
    await allSeen('first', 'second', 'third', ...kept)
    expect(reads).toBeGreaterThan(1)
  })

  /** Blocks all handling until the returned function is called. */
  const hold = () => {
    let release = () => {}
    held = new Promise<void>((resolve) => {
      release = resolve
    })
    return release
  }

  test('backfills pending messages that expired while the handler was blocked', async () => {
    const first = consume('all')
    await create('first')
    await allSeen('first')
    await settled(1)
    await first.close()
    const release = hold()
    await create('second', 'third')
    await inStream(3)
    const consumer = consume('all', { maxAckPending: 1 })
    await waitFor(async () => (await consumer.place()).delivered === 2)
    await expire()
    await create('fourth')
    await inStream(4)
    release()
    await allSeen('first', 'second', 'third', 'fourth')
  })

  test.each(['after', 'before'])(
    'backfills messages that arrived and expired while the handler was blocked, %s it checked the stream',
    async (when) => {
      const consumer = consume('all', { maxAckPending: 1 })
      await create('first')
      await allSeen('first')
      await settled(1)
      const release = hold()
      await create('second', ...(when === 'after' ? ['third'] : []))
      await waitFor(async () => (await consumer.place()).delivered === 2)
      // The first write may have started before.
      for (let looks = 0; looks < 2; looks++) await writesPlace()
      if (when === 'before') await create('third')
      await inStream(3)
      await expire()
      await create('fourth')
      await inStream(4)
      release()
      await allSeen('first', 'second', 'third', 'fourth')
    },
  )

  test('ignores events before its creation when its effects are external', async () => {
    await create('first')
    await inStream(1)
    await expire()
    const consumer = consume('gap')
    await create('second')
    await allSeen('second')
    await settled(2)
    await consumer.close()
    consume('gap')
    await create('third')
    await allSeen('second', 'third')
  })

  test('backfills its gap only once when its effects are external', async () => {
    await createSlow(70, 'history')
    await inStream(1)
    await expire()
    const first = consume('gap')
    await create('first')
    await allSeen('first')
    await settled(2)
    await first.close()
    await create('lost')
    await createSlow(50, 'lost as well')
    await inStream(4)
    await expire()
    await create('kept')
    await inStream(5)
    const second = consume('gap')
    await allSeen('first', 'lost', 'lost as well', 'kept')
    await settled(5)
    await second.close()
    const times = handled.length
    const third = consume('gap')
    await create('later')
    await allSeen('first', 'lost', 'lost as well', 'kept', 'later')
    await third.close()
    // By then nothing was missing.
    expect(handled).toHaveLength(times + 1)
  })

  test('records up to which position it has handled the log without a gap, and backfills from there', async () => {
    const first = consume('gap')
    // Once the relay has noticed, published messages carry the position up to which the log is in the stream.
    await waitFor(async () => {
      await create('before')
      return first.lowWatermarks().get(schema) !== undefined
    })
    await waitFor(async () => (await floorOf()) > 0)
    await first.close()
    const floor = await floorOf()
    await create('lost')
    await waitFor(async () => (await testStore.database.sql`select 1 from outbox`).length === 0)
    await expire()
    positions = []
    consume('gap')
    await waitFor(async () => (await seen()).at(-1) === 'lost')
    expect(positions.length).toBeGreaterThan(0)
    expect(Math.min(...positions)).toBeGreaterThan(floor)
  })

  test('backfills only events of its filters, and waits for a log that cannot be read', async () => {
    await create('first')
    const [id, open] = openTicketArguments('second')
    await replica.tickets.create(id, open, meta())
    await replica.tickets.handle(id, { kind: 'close', now: '2026-01-01T00:00:00.000Z' }, meta())
    // Closing is two events.
    await inStream(4)
    await expire()
    let refusals = 2
    logs = [
      {
        source: 'elsewhere',
        end: async () => 0,
        page: async () => {
          if (refusals-- > 0) throw new ApiError('service_unavailable', 'away')
          return { events: [], next: null }
        },
      },
      ownLog(schema, testStore.database),
    ]
    consume('all', {
      filterSubjects: names.eventFilters(['ticket.closed']),
    })
    await allSeen('second')
    expect(refusals).toBeLessThan(0)
  })

  test.each([
    ['at once', 0],
    ['as soon as it can be kept', 2],
  ])('dead-letters an event of the log that fails, and continues: %s', async (_, refusals) => {
    const { sql } = testStore.database
    await sql`create sequence refusals minvalue 0`
    await sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if nextval('refusals') < ${refusals} then raise exception 'not now'; end if;
        return new; end $$;
      create trigger refuse before insert on dead_letters for each row execute function refuse()`)
    await create('first', 'Poison', 'third')
    await inStream(3)
    await expire()
    const consumer = consumeEvents({
      ...{ database: testStore.database, link, names, durable: 'test-history', log },
      history: { of: 'all', logs },
      async handle(events, tx, batch) {
        if (events.some(({ data }) => data.after?.title === 'Poison')) throw new Error('cannot be handled')
        await record(events, tx, batch)
      },
    })
    closing.push(consumer.close)
    await allSeen('first', 'third')
    await waitFor(() => consumer.isCaughtUp())
    expect(await sql`select source, source_position, error from dead_letters`).toEqual([
      { source: schema, source_position: '2', error: 'Error: cannot be handled' },
    ])
  })

  test('reads a log in pages that are bounded by their size', async () => {
    const large = 'x'.repeat(400_000)
    await create(...Array.from({ length: 12 }, (_, n) => `${n}${large}`))
    const [own] = logs
    const first = await own?.page({ after: 0, types: '*' })
    expect(first?.events.length).toBeLessThan(12)
    expect(first?.next).toBe(first?.events.at(-1)?.position)
    const positions: number[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: Awaited<ReturnType<LogSource['page']>> | undefined = await own?.page({
        after,
        types: 'ticket.*',
      })
      positions.push(...(page?.events.map(({ position }) => position) ?? []))
      after = page?.next ?? null
    }
    expect(positions).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
    expect(await own?.page({ after: 0, types: 'incident.*,ticketXopened' })).toEqual({
      events: [],
      next: null,
    })
  })

  test('writes checkpoint and low watermarks in one statement when the handler commits by itself', async () => {
    const { database } = testStore
    const written: string[] = []
    const counting = new Proxy(database.sql, {
      get(target, name) {
        if (name !== 'unsafe') return Reflect.get(target, name)
        return (text: string, ...rest: [never]) => {
          if (text.includes('into consumer_checkpoints')) written.push(text)
          return target.unsafe(text, ...rest)
        }
      },
    })
    const consumer = consumeEvents({
      ...{ database: { ...database, sql: counting }, link, names, durable: 'test-history', log },
      history: { of: 'gap', logs },
      perform: async () => {},
    })
    closing.push(consumer.close)
    const kept = async () =>
      (await database.sql`select handled, stream_sequence, ack_floor from consumer_checkpoints`)[0]
    for (const n of ['1', '2']) {
      await create(`Ticket ${n}`)
      await waitFor(async () => (await kept())?.ack_floor === n)
      expect(await kept()).toEqual({ handled: n, stream_sequence: n, ack_floor: n })
    }
    // One at the start, then one for each batch.
    expect(written).toHaveLength(3)
  })
})
