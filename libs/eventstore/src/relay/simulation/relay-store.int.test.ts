import { expect } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { testConformance } from '../../fixture/conformance.js'
import type { TestStore } from '../../fixture/test-database.js'
import { createRelayStore, type RelayStore } from '../relay-store.js'
import type { StreamMark } from '../stream-marks.js'
import { LogInMemory, loggedEvent } from './log-in-memory.fixture.js'
import { relayStoreInMemory } from './relay-store-in-memory.fixture.js'

/** A log with a relay's store, and further operations on it. */
interface Subject {
  store: RelayStore
  /** Commits an event of a new stream at the next position. */
  append(workspaceId?: string): Promise<void>
  /** Lets the lease end `ms` ago. */
  expire(ms: number): Promise<void>
  /** Starts a transaction that writes at the next position and stays open until the resolved function is called. */
  begin(): Promise<() => Promise<void>>
  outbox(): Promise<number[]>
}

const mark: StreamMark = {
  ...{ number: 1, identity: 'first', generation: 0, sequence: 3, messageId: 'evt_3', floor: 2, at: 0 },
}
const nothing = { done: [], mark: undefined, superfluous: [] }
const lease = { owner: 'one', fence: '1' }
const withoutAge = ({ at: _, ...rest }: StreamMark) => rest
const isTaken = (taken: object) => 'fence' in taken

/** The properties a relay relies on, for every implementation of the tables. */
const cases: Record<string, (subject: Subject) => Promise<void>> = {
  async 'a lease is one owner’s, which has it again after a restart with another fence'({ store }) {
    expect(await store.acquireLease('one', undefined)).toEqual(lease)
    const { freeInMs } = (await store.acquireLease('two', undefined)) as { freeInMs: number }
    expect(freeInMs).toBeGreaterThan(0)
    expect(freeInMs).toBeLessThanOrEqual(5_000)
    expect(await store.acquireLease('one', '1')).toEqual(lease)
    expect(await store.acquireLease('one', undefined)).toEqual({ owner: 'one', fence: '2' })
    expect(isTaken(await store.acquireLease('one', '1'))).toBe(false)
  },
  async 'an expired lease is free for a replica that starts, and for a waiting one that has events'({
    store,
    append,
    expire,
  }) {
    await store.acquireLease('one', undefined)
    await expire(1_000)
    expect(isTaken(await store.acquireLease('two', '7'))).toBe(false)
    await append()
    expect(await store.acquireLease('two', '7')).toEqual({ owner: 'two', fence: '2' })
    await expire(1_000)
    expect(await store.acquireLease('three', undefined)).toEqual({ owner: 'three', fence: '3' })
  },
  async 'a lease that was abandoned is taken without work, and one given up is free at once'({
    store,
    expire,
  }) {
    await store.acquireLease('one', undefined)
    await expire(20_000)
    expect(await store.acquireLease('two', '7')).toEqual({ owner: 'two', fence: '2' })
    await store.release({ owner: 'one', fence: '1' })
    expect(isTaken(await store.acquireLease('three', undefined))).toBe(false)
    await store.release({ owner: 'two', fence: '2' })
    expect(await store.acquireLease('three', undefined)).toEqual({ owner: 'three', fence: '3' })
  },
  async 'a look has positions above one, by workspace, and renews the lease that is held'({ store, append }) {
    await store.acquireLease('one', undefined)
    for (const workspaceId of ['ws_1', 'ws_2', 'ws_1', 'ws_1']) await append(workspaceId)
    const { isLeaseHeld: held, workspaces } = await store.poll(1, 2, lease)
    const sorted = [...workspaces].sort((one, other) => one.workspaceId.localeCompare(other.workspaceId))
    expect([held, sorted]).toEqual([
      true,
      [
        { workspaceId: 'ws_1', positions: [3] },
        { workspaceId: 'ws_2', positions: [2] },
      ],
    ])
    expect((await store.poll(0, 9)).isLeaseHeld).toBeUndefined()
    expect((await store.poll(4, 9, { owner: 'two', fence: '1' })).isLeaseHeld).toBe(false)
    expect((await store.poll(4, 9, { owner: 'one', fence: '9' })).isLeaseHeld).toBe(false)
  },
  async 'what is published is out of the outbox with its mark, by the holder alone'({
    store,
    append,
    outbox,
  }) {
    await store.acquireLease('one', undefined)
    for (let at = 0; at < 3; at++) await append()
    expect(await store.record({ owner: 'one', fence: '9' }, { ...nothing, done: [1], mark })).toBe(false)
    expect([await outbox(), await store.marks()]).toEqual([[1, 2, 3], []])
    expect(await store.record(lease, { ...nothing, done: [1, 3], mark })).toBe(true)
    const later = { ...mark, sequence: 9, messageId: 'evt_9', floor: 3 }
    await store.record(lease, { ...nothing, mark: { ...later, identity: 'not changed' } })
    await store.record(lease, { ...nothing, mark: { ...mark, number: 2 } })
    expect(await outbox()).toEqual([2])
    expect((await store.marks()).map(withoutAge)).toEqual([
      withoutAge(later),
      withoutAge({ ...mark, number: 2 }),
    ])
    await store.record(lease, { ...nothing, superfluous: [1] })
    expect((await store.marks()).map(({ number }) => number)).toEqual([2])
  },
  async 'events are those that wait, and one that is given up waits no more'({ store, append, outbox }) {
    await store.acquireLease('one', undefined)
    for (let at = 0; at < 3; at++) await append()
    await store.record(lease, { ...nothing, done: [2] })
    const events = await store.events([1, 2, 3])
    expect(events.map(({ position }) => position).sort()).toEqual(['1', '3'])
    const [first] = events
    if (!first) throw new Error('no event')
    await store.giveUp({ owner: 'two', fence: '1' }, first, 'too large')
    expect(await outbox()).toEqual([1, 3])
    await store.giveUp(lease, first, 'too large')
    expect(await outbox()).toEqual([1, 3].filter((position) => position !== Number(first.position)))
  },
  async 'a refill puts back what is above the mark that stands'({ store, append, outbox }) {
    await store.acquireLease('one', undefined)
    for (let at = 0; at < 4; at++) await append()
    await store.record(lease, { ...nothing, done: [1, 2, 3], mark })
    await store.record(lease, { ...nothing, mark: { ...mark, number: 2 } })
    const refill = { standing: mark, maxAgeMs: 0, identity: 'second', last: 8, generation: 1 }
    expect(await store.refill({ owner: 'two', fence: '1' }, refill)).toBeUndefined()
    expect(await store.refill(lease, refill)).toEqual({ floor: 2, events: 1 })
    expect(await outbox()).toEqual([3, 4])
    expect((await store.marks()).map(withoutAge)).toEqual([
      withoutAge({ ...mark, identity: 'second', generation: 1 }),
    ])
  },
  async 'without one it puts back all that is younger than the stream keeps, wherever it stands'({
    store,
    append,
    outbox,
  }) {
    await store.acquireLease('one', undefined)
    for (let at = 0; at < 3; at++) await append()
    await store.record(lease, { ...nothing, done: [1, 2, 3], mark })
    const refill = { standing: undefined, maxAgeMs: 3_600_000, identity: 'second', last: 8, generation: 1 }
    expect(await store.refill(lease, refill)).toEqual({ floor: 0, events: 3 })
    expect(await outbox()).toEqual([1, 2, 3])
    const begun = { number: 1, identity: 'second', generation: 1, sequence: 8, messageId: null, floor: 0 }
    expect((await store.marks()).map(withoutAge)).toEqual([begun])
  },
  async 'the edge names who writes below it, until that ends'({ store, append, begin }) {
    await append()
    const end = await begin()
    await append()
    const { last, writers } = await store.edge()
    expect([last, writers.length]).toEqual([3, 1])
    await end()
    expect(await store.edge()).toMatchObject({ last: 3, writers: [] })
  },
}

/** Ids descend: their order differs from that of the positions. */
const made = newId('event').slice(0, -16)
const idAt = (serial: number) => `${made}${9_000_000_000_000_000 - serial}`

function inMemory(): Subject {
  const time = { now: 1_000_000, after() {} }
  const log = new LogInMemory(time)
  let serial = 0
  const write = (workspaceId = 'ws_1') => {
    const streamId = `s_${++serial}`
    const writer = log.begin(streamId)
    if (!writer) throw new Error('another writes to the stream')
    const event = loggedEvent(idAt(serial), { position: writer.position, streamId, version: 1, workspaceId })
    return () => writer.commit(event)
  }
  return {
    store: relayStoreInMemory(
      log,
      async (act) => act(),
      () => time.now,
    ),
    append: async (workspaceId) => write(workspaceId)(),
    begin: async () => {
      const commit = write()
      return async () => commit()
    },
    async expire(ms) {
      if (log.lease) time.now = log.lease.expiresAt + ms
    },
    outbox: async () => [...log.outbox.keys()].sort((one, other) => one - other),
  }
}

async function onPostgres({ database }: TestStore): Promise<Subject> {
  const { sql } = database
  await sql`select add_event_month(current_date)`
  await sql`truncate events, outbox, stream_marks, leases, dead_letters`
  await sql`alter sequence events_position_seq restart`
  let serial = 0
  const write = (on: StatementRunner, workspaceId = 'ws_1') =>
    on.unsafe(
      `with appended as (
         insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data, created_at)
         values ($1, 'tickets', $2, 1, 'ticket.opened', $3, 'production', '{}', '{}', '{}', now())
         returning position, workspace_id, id)
       insert into outbox (position, workspace_id, event_id) select * from appended`,
      [idAt(++serial), `s_${serial}`, workspaceId],
    )
  return {
    store: createRelayStore(database),
    append: async (workspaceId) => void (await write(sql, workspaceId)),
    begin: () =>
      new Promise((resolve, reject) => {
        let end: () => void = () => {}
        const ended = new Promise<void>((done) => {
          end = done
        })
        const transaction = sql.begin(async (tx) => {
          await write(tx)
          resolve(async () => {
            end()
            await transaction
          })
          await ended
        })
        transaction.catch(reject)
      }),
    async expire(ms) {
      await sql`update leases set expires_at = now() - ${`${ms} ms`}::interval`
    },
    outbox: async () => {
      const rows = await sql<{ position: string }[]>`select position from outbox order by position`
      return rows.map(({ position }) => Number(position))
    },
  }
}

testConformance(cases, { inMemory, onPostgres })
