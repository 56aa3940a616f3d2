import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import {
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  type TestStore,
  tenant,
} from '../fixture/test-database.js'
import { ticketDecider } from '../fixture/ticket.js'
import type { Unit } from '../unit.js'

let testStore: TestStore
let one: Replica
let other: Replica
beforeAll(async () => {
  testStore = await openTestStore()
  one = testStore.replica()
  other = testStore.replica()
})
afterAll(() => testStore.close())

const now = '2026-01-01T00:00:00.000Z'
const close = { kind: 'close', now } as const
const openTicket = async () => {
  const [id, open] = openTicketArguments()
  await one.tickets.create(id, open, meta())
  return id
}
/** Runs `act` in a unit that depends on this ticket being open. */
const whileOpen =
  ({ tickets }: Replica, id: string, act: (unit: Unit) => Promise<unknown>) =>
  async (unit: Unit) => {
    const found = await unit.find(tickets, id)
    if (found?.state.status !== 'open') throw new ApiError('conflict', 'The ticket is closed.')
    unit.requireUnchanged(ticketDecider, id, { status: 'open' })
    await act(unit)
  }
/** Creates a ticket in a unit that depends on another ticket being open. */
const openWhile = (
  replica: Replica,
  id: string,
  newId: readonly [string, ReturnType<typeof openTicketArguments>[1]],
) =>
  replica.store.transact(
    meta(),
    whileOpen(replica, id, (unit) => unit.create(replica.tickets, ...newId)),
  )
const refused = { code: 'conflict', message: 'The ticket is closed.' }

/** The log positions of a ticket's events of one type. */
const places = async (type: string, id: string) => {
  const rows = await testStore.database.sql`
    select position::int as position from events where stream_id = ${id} and type = ${type}`
  return rows.map(({ position }) => Number(position))
}
const somebodyWaits = () =>
  waitFor(async () => {
    const rows = await testStore.database.sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return rows.length > 0
  })

describe('a decision that depends on another record', () => {
  test('is repeated when the required fields of that record have changed, but not for its other fields', async () => {
    const id = await openTicket()
    const fresh = openTicketArguments()
    let runs = 0
    const work = whileOpen(one, id, async (unit) => {
      await unit.create(one.tickets, ...fresh)
      if (runs++ === 0) await other.tickets.handle(id, { kind: 'count', now }, meta())
    })
    await one.store.transact(meta(), work)
    expect(runs).toBe(1)

    const late = openTicketArguments()
    const closing = whileOpen(one, id, async (unit) => {
      await unit.create(one.tickets, ...late)
      if (runs++ === 1) await other.tickets.handle(id, close, meta())
    })
    await expect(one.store.transact(meta(), closing)).rejects.toMatchObject(refused)
    expect(runs).toBe(2)
    expect(await one.tickets.find(late[0], tenant)).toBeNull()
  })

  test('is repeated when that record is deleted, and rejected when it belongs to another workspace', async () => {
    const id = await openTicket()
    let runs = 0
    const work = whileOpen(one, id, async (unit) => {
      await unit.create(one.tickets, ...openTicketArguments())
      if (runs++ === 0) await other.tickets.handle(id, { kind: 'delete' }, meta())
    })
    await expect(one.store.transact(meta(), work)).rejects.toMatchObject(refused)

    const theirs = await openTicket()
    const elsewhere = meta({ tenant: { ...tenant, workspaceId: 'ws_2' } })
    const blind = one.store.transact(elsewhere, async (unit) => {
      unit.requireUnchanged(ticketDecider, theirs, { status: 'open' })
      await unit.create(one.tickets, ...openTicketArguments())
    })
    await expect(blind).rejects.toMatchObject({ code: 'version_conflict' })
  })

  test('is repeated without failing If-Match, which applies only to the written record', async () => {
    const [relied, written] = [await openTicket(), await openTicket()]
    let runs = 0
    const work = async (unit: Unit) => {
      const found = await unit.find(one.tickets, relied)
      unit.requireUnchanged(ticketDecider, relied, { count: found?.state.count ?? 0 })
      await unit.handle(one.tickets, written, { kind: 'count', now })
      if (runs++ === 0) await other.tickets.handle(relied, { kind: 'count', now }, meta())
    }
    await one.store.transact(meta({ expectedVersion: 1 }), work)
    expect(runs).toBe(2)
    expect(await one.tickets.get(written, tenant)).toMatchObject({ count: 1, version: 2 })
  })

  test('waits for an uncommitted change of that record, and is based on the committed result', async () => {
    const id = await openTicket()
    const fresh = openTicketArguments()
    let deciding: Promise<unknown> = Promise.resolve()
    await testStore.database.sql.begin(async (tx) => {
      await other.store.within(tx, meta(), (unit) => unit.handle(other.tickets, id, close))
      deciding = expect(openWhile(one, id, fresh)).rejects.toMatchObject(refused)
      await somebodyWaits()
    })
    await deciding
    expect(await one.tickets.find(fresh[0], tenant)).toBeNull()
  })

  test('precedes the next change of that record, in the log too', async () => {
    const id = await openTicket()
    const fresh = openTicketArguments()
    let closing: Promise<unknown> = Promise.resolve()
    await testStore.database.sql.begin(async (tx) => {
      const work = whileOpen(one, id, (unit) => unit.create(one.tickets, ...fresh))
      await one.store.within(tx, meta(), async (unit) => work(unit))
      closing = other.tickets.handle(id, close, meta())
      await somebodyWaits()
    })
    await closing
    const [[opened = 0], [closed = 0]] = [
      await places('ticket.opened', fresh[0]),
      await places('ticket.closed', id),
    ]
    expect(closed).toBeGreaterThan(opened)
  })

  test.each([1, 2])(
    'is never committed after a conflicting change of that record, with %s processes',
    async (processes) => {
      const replica = (at: number) => (processes > 1 && at % 2 === 1 ? other : one)
      for (let round = 0; round < 20; round++) {
        const id = await openTicket()
        const fresh = Array.from({ length: 6 }, () => openTicketArguments())
        const deciding = fresh.map((args, at) => openWhile(replica(at), id, args))
        deciding.splice(
          round % 6,
          0,
          replica(round)
            .tickets.handle(id, close, meta())
            .then(() => undefined),
        )
        for (const result of await Promise.allSettled(deciding))
          if (result.status === 'rejected') expect(result.reason).toMatchObject(refused)
        const [closed = 0] = await places('ticket.closed', id)
        for (const [freshId] of fresh)
          for (const opened of await places('ticket.opened', freshId)) expect(opened).toBeLessThan(closed)
      }
    },
  )

  test.each([
    [1, 10],
    [2, 3],
  ])(
    'excludes a concurrent decision that depends on the record it changes, with %s processes',
    async (processes, rounds) => {
      for (let round = 0; round < rounds; round++) {
        const [left, right] = [await openTicket(), await openTicket()]
        const closeWhile = (replica: Replica, id: string, still: string) =>
          replica.store.transact(
            meta(),
            whileOpen(replica, still, (unit) => unit.handle(replica.tickets, id, close)),
          )
        const second = processes > 1 ? other : one
        const results = await Promise.allSettled([
          closeWhile(one, left, right),
          closeWhile(second, right, left),
        ])
        const states = await Promise.all([left, right].map((id) => one.tickets.get(id, tenant)))
        expect(states.map(({ status }) => status).sort()).toEqual(['closed', 'open'])
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      }
    },
  )
})
