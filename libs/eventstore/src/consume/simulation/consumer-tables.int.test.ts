import { expect } from '@jest/globals'
import { eventHeaders, type PlatformEvent } from '@opsplane/contracts'
import type { Received, StreamMessage } from '@opsplane/nats'
import { sql } from 'drizzle-orm'
import { testConformance } from '../../fixture/conformance.js'
import type { TestStore } from '../../fixture/test-database.js'
import { type Checkpoint, type ConsumerTables, createConsumerTables } from '../consumer-tables.js'
import type { Transaction } from '../transaction.js'
import { ConsumerRows, consumerTablesInMemory, write } from './tables-in-memory.fixture.js'

/** The tables of a consumer, and further operations on them. */
interface Subject {
  tables: ConsumerTables
  /** An effect of a handler, in the handler's transaction. */
  effect(tx: Transaction, name: string): Promise<void>
  effects(): Promise<string[]>
  checkpoint(): Promise<Checkpoint>
  /** Dead letters as they are listed, oldest first. */
  letters(): Promise<Letter[]>
  /** Marks all dead letters for redrive, like an operator. */
  mark(): Promise<void>
}

interface Letter {
  messageId: string
  error: string
  deliveries: number
  isMarked: boolean
}

const consumer = 'desk-ticket-projection'
const nothing: Checkpoint = { streamSequence: 0, eventId: '', handled: 0 }
const place = { streamCreated: 'first', ackFloor: 3 }
const floors = (position: number) => new Map([['desk', position]])

const message = (seq: number, headers: Record<string, string> = {}): StreamMessage =>
  ({
    ...{ seq, stream: 'EVENTS', subject: 'evt.ws_1.production.ticket.opened', deliveries: 2 },
    header: (name: string) => headers[name],
    string: () => '{"n":1}',
  }) as StreamMessage
const received = (seq: number) =>
  ({ message: message(seq), event: { id: `evt_${seq}` } }) as Received<PlatformEvent>
const letter = (tables: ConsumerTables, seq: number, error = 'refused') =>
  tables.deadLetter(message(seq, { 'Nats-Msg-Id': `evt_${seq}` }), new Error(error))

/** The properties a consumer relies on, for every implementation of the tables. */
const cases: Record<string, (subject: Subject) => Promise<void>> = {
  async 'a place is known once the consumer has arrived there, and so is when it started'({ tables }) {
    expect(await tables.place()).toBeUndefined()
    await tables.arrive(place, new Map())
    const first = await tables.place()
    expect(first).toMatchObject(place)
    await tables.arrive({ streamCreated: 'second', ackFloor: 1 }, new Map())
    expect(await tables.place()).toEqual({
      streamCreated: 'second',
      ackFloor: 1,
      startedMs: first?.startedMs,
    })
  },
  async 'a low watermark only rises'({ tables }) {
    expect(await tables.lowWatermarks()).toEqual(new Map())
    await tables.arrive(place, floors(5))
    await tables.arrive(
      place,
      new Map([
        ['desk', 4],
        ['shop', 1],
      ]),
    )
    expect(await tables.lowWatermarks()).toEqual(
      new Map([
        ['desk', 5],
        ['shop', 1],
      ]),
    )
  },
  async 'a batch and its checkpoint commit together, or not at all'({ tables, effect, effects, checkpoint }) {
    await tables.transaction(async (tx) => {
      await effect(tx, 'one')
      await tables.advance([received(1), received(2)], tx)
    })
    const failed = tables.transaction(async (tx) => {
      await effect(tx, 'two')
      await tables.advance([received(3)], tx)
      throw new Error('refused')
    })
    await expect(failed).rejects.toThrow('refused')
    expect(await effects()).toEqual(['one'])
    expect(await checkpoint()).toEqual({ streamSequence: 2, eventId: 'evt_2', handled: 2 })
    await tables.transaction((tx) => tables.advance([received(3)], tx))
    await tables.transaction((tx) => tables.advance([], tx))
    expect(await checkpoint()).toEqual({ streamSequence: 3, eventId: 'evt_3', handled: 3 })
  },
  async 'a checkpoint that comes with a place counts on, and stays where nothing was handled'({
    tables,
    checkpoint,
  }) {
    await tables.arrive(place, new Map())
    expect(await checkpoint()).toEqual(nothing)
    await tables.arrive(place, new Map(), { streamSequence: 7, eventId: 'evt_7', handled: 4 })
    await tables.arrive(place, new Map(), { streamSequence: 9, eventId: 'evt_9', handled: 2 })
    await tables.arrive(place, new Map())
    expect(await checkpoint()).toEqual({ streamSequence: 9, eventId: 'evt_9', handled: 6 })
  },
  async 'a log is read from behind what was handled or read, until the consumer has arrived'({ tables }) {
    expect(await tables.readUpTo('desk')).toBe(0)
    await tables.arrive(place, floors(5))
    expect(await tables.readUpTo('desk')).toBe(5)
    await tables.progress({ source: 'desk', position: 9 })
    expect(await tables.readUpTo('desk')).toBe(9)
    await tables.progress({ source: 'desk', position: 2 })
    expect(await tables.readUpTo('desk')).toBe(5)
    await tables.progress({ source: 'desk', position: 8 })
    await tables.arrive(place, floors(6))
    expect(await tables.readUpTo('desk')).toBe(6)
    expect(await tables.readUpTo('shop')).toBe(0)
  },
  async 'a dead letter is kept once for each message, as it was last'({ tables, letters, mark }) {
    await letter(tables, 1)
    await letter(tables, 2)
    await mark()
    await letter(tables, 1, 'refused again')
    await tables.deadLetter(message(3), new Error('without an id'))
    const found = await letters()
    expect(found.map(({ messageId, isMarked }) => ({ messageId, isMarked }))).toEqual([
      { messageId: 'evt_1', isMarked: false },
      { messageId: 'evt_2', isMarked: true },
      { messageId: 'EVENTS/3', isMarked: false },
    ])
    expect(found[0]).toMatchObject({ error: expect.stringContaining('refused again'), deliveries: 2 })
  },
  async 'marked letters come one by one, and end with their effects or keep why not'(subject) {
    const { tables, effect } = subject
    for (const seq of [1, 2, 3]) await letter(tables, seq)
    expect(await tables.nextMarked(0, async () => {})).toBeUndefined()
    await subject.mark()
    const first = await tables.nextMarked(0, async (marked) => {
      expect(marked.letter).toMatchObject({
        messageId: 'evt_1',
        subject: message(1).subject,
        streamSequence: 1,
      })
      await marked.effect((tx) => effect(tx, 'one'))
      await marked.end()
    })
    const second = await tables.nextMarked(first ?? 0, async (marked) => {
      const failing = marked.effect(async (tx) => {
        await effect(tx, 'two')
        throw new Error('still refused')
      })
      await expect(failing).rejects.toThrow('still refused')
      await marked.failed(new Error('still refused'))
    })
    const failed = tables.nextMarked(second ?? 0, async (marked) => {
      await marked.end()
      throw new Error('the process ends')
    })
    await expect(failed).rejects.toThrow('the process ends')
    expect(await subject.effects()).toEqual(['one'])
    expect(await subject.letters()).toEqual([
      { messageId: 'evt_2', error: expect.stringContaining('still refused'), deliveries: 3, isMarked: false },
      { messageId: 'evt_3', error: expect.stringContaining('refused'), deliveries: 2, isMarked: true },
    ])
  },
  async 'a letter that another has taken is passed over'({ tables, mark }) {
    for (const seq of [1, 2]) await letter(tables, seq)
    await mark()
    const taken: string[] = []
    await tables.nextMarked(0, async (marked) => {
      taken.push(marked.letter.messageId)
      await tables.nextMarked(0, async (other) => void taken.push(other.letter.messageId))
    })
    expect(taken).toEqual(['evt_1', 'evt_2'])
  },
  async 'what says where it comes from is kept of a dead letter'({ tables, mark }) {
    const headers = { [eventHeaders.source]: 'desk', [eventHeaders.position]: '12', 'Nats-Msg-Id': 'evt_1' }
    await tables.deadLetter(message(4, headers), new Error('refused'))
    await mark()
    await tables.nextMarked(0, async (marked) =>
      expect(marked.letter).toMatchObject({ source: 'desk', sourcePosition: 12, payload: '{"n":1}' }),
    )
  },
}

function inMemory(): Subject {
  const rows = new ConsumerRows()
  const effects: string[] = []
  return {
    tables: consumerTablesInMemory(
      rows,
      consumer,
      async (act) => act(),
      () => 1_000_000,
    ),
    effect: async (tx, name) => write(tx, () => void effects.push(name)),
    effects: async () => effects,
    checkpoint: async () => rows.checkpoint,
    letters: async () =>
      [...rows.letters.values()].map(({ messageId, error, deliveries, redrivenAt }) => ({
        ...{ messageId, error, deliveries },
        isMarked: redrivenAt !== null,
      })),
    async mark() {
      for (const kept of rows.letters.values()) kept.redrivenAt = new Date(1_000_000).toISOString()
    },
  }
}

async function onPostgres({ database }: TestStore): Promise<Subject> {
  const client = database.sql
  await client`truncate consumer_checkpoints, consumer_floors, dead_letters`
  return {
    tables: createConsumerTables(database, consumer),
    effect: async (tx, name) =>
      void (await tx.execute(
        sql`insert into consumer_floors (consumer, source, position) values ('effect', ${name}, 1)`,
      )),
    async effects() {
      const rows = await client<
        { source: string }[]
      >`select source from consumer_floors where consumer = 'effect'`
      return rows.map(({ source }) => source)
    },
    async checkpoint() {
      const [row] = await client<{ at: string; event_id: string; handled: string }[]>`
        select stream_sequence as at, event_id, handled from consumer_checkpoints where consumer = ${consumer}`
      return row
        ? { streamSequence: Number(row.at), eventId: row.event_id, handled: Number(row.handled) }
        : nothing
    },
    async letters() {
      return client<Letter[]>`
        select message_id as "messageId", error, deliveries, redriven_at is not null as "isMarked"
        from dead_letters where consumer = ${consumer} order by id`
    },
    mark: async () =>
      void (await client`update dead_letters set redriven_at = now() where consumer = ${consumer}`),
  }
}

testConformance(cases, { inMemory, onPostgres })
