import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toStatementRunner } from '@opsplane/postgres'
import { VersionRaceError } from './errors.js'
import {
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  type TestStore,
  tenant,
} from './fixture/test-database.js'

describe('the event store', () => {
  let testStore: TestStore
  let one: Replica
  let other: Replica

  beforeAll(async () => {
    testStore = await openTestStore()
    one = testStore.replica()
    other = testStore.replica()
  })
  afterAll(() => testStore.close())

  const eventsOf = (id: string) =>
    testStore.database.sql<
      { version: number; type: string; data: Record<string, unknown>; sealed: unknown; resource: unknown }[]
    >`select version, type, data, sealed, resource from events where stream_id = ${id} order by position`
  const counted = { kind: 'count', now: '2026-01-01T00:00:00.000Z' } as const

  test('stores the decided events, with the hidden part of the state separate', async () => {
    const [id, open] = openTicketArguments()
    const created = await one.tickets.create(id, open, meta())
    expect(created).toMatchObject({ id, status: 'open', version: 1 })
    expect(created).not.toHaveProperty('passwordHash')
    const closed = await one.tickets.handle(id, { kind: 'close', now: counted.now }, meta())
    expect(closed).toMatchObject({ status: 'closed', count: 1, version: 3 })

    expect(await other.tickets.get(id, tenant)).toEqual(closed)
    expect((await one.tickets.find(id, tenant))?.state.passwordHash).toBe(`hash of ${id}`)
    const events = await eventsOf(id)
    expect(events.map(({ version, type }) => [version, type])).toEqual([
      [1, 'ticket.opened'],
      [2, 'ticket.counted'],
      [3, 'ticket.closed'],
    ])
    expect(events[1]).toMatchObject({
      data: {
        before: { count: 0 },
        after: { count: 1 },
        changes: expect.arrayContaining(['status', 'count', 'updatedAt']),
        by: 'closing',
      },
      resource: { type: 'ticket', id, displayName: 'Printer on fire' },
      sealed: { hidden: { passwordHash: `hash of ${id}` } },
    })
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain('hash of')
  })

  test('decides on the state it has read, and again when another transaction was faster', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const counts: (number | undefined)[] = []
    await one.store.transact(meta(), async (unit) => {
      counts.push((await unit.find(one.tickets, id))?.state.count)
      if (counts.length === 1) await other.tickets.handle(id, counted, meta())
      counts.push((await unit.handle(one.tickets, id, counted)).count)
    })
    expect(counts).toEqual([0, 1, 1, 2])
    expect(await other.tickets.get(id, tenant)).toMatchObject({ count: 2, version: 3 })
  })

  test('rejects a record too large for a message with payload_too_large, and writes nothing', async () => {
    const [id, open] = openTicketArguments('\u0001'.repeat(100_000))
    const refused = { code: 'payload_too_large', details: [{ code: 'record_too_large' }] }
    await expect(one.tickets.create(id, open, meta())).rejects.toMatchObject(refused)
    const within = testStore.database.sql.begin((tx) =>
      one.store.within(tx, meta(), (unit) => unit.create(one.tickets, id, open)),
    )
    await expect(within).rejects.toMatchObject(refused)
    expect(await eventsOf(id)).toEqual([])
    await expect(one.tickets.get(id, tenant)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('returns not_found alike for an absent id, another tenant and a deleted aggregate', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const elsewhere = { workspaceId: 'ws_2', environment: 'production' } as const
    const absent = { code: 'not_found' }
    await expect(one.tickets.get('inc_none', tenant)).rejects.toMatchObject(absent)
    await expect(one.tickets.get(id, elsewhere)).rejects.toMatchObject(absent)
    await expect(one.tickets.get(id, { ...tenant, environment: 'staging' })).rejects.toMatchObject(absent)
    await expect(one.tickets.handle(id, counted, meta({ tenant: elsewhere }))).rejects.toMatchObject(absent)
    expect(await one.tickets.handle(id, { kind: 'delete' }, meta())).toMatchObject({ id, version: 2 })
    await expect(one.tickets.get(id, tenant)).rejects.toMatchObject(absent)
  })

  test('rejects an id that exists, also in another tenant, and continues a deleted aggregate', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const taken = { code: 'conflict' }
    await expect(other.tickets.create(id, open, meta())).rejects.toMatchObject(taken)
    const elsewhere = { workspaceId: 'ws_2', environment: 'production' } as const
    await expect(other.tickets.create(id, open, meta({ tenant: elsewhere }))).rejects.toMatchObject(taken)
    await one.tickets.handle(id, { kind: 'delete' }, meta())
    expect(await other.tickets.create(id, open, meta())).toMatchObject({ version: 3 })
  })

  test('reads an aggregate as of an instant, including hidden fields', async () => {
    const [id, open] = openTicketArguments()
    const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
    const opened = await one.tickets.create(id, { ...open, now: at(1) }, meta({ now: at(1) }))
    const counted = await one.tickets.handle(id, { kind: 'count', now: at(3) }, meta({ now: at(3) }))
    const closed = await one.tickets.handle(id, { kind: 'close', now: at(5) }, meta({ now: at(5) }))
    await one.tickets.handle(id, { kind: 'delete' }, meta({ now: at(7) }))

    const absent = { code: 'not_found' }
    await expect(one.tickets.asOf(id, tenant, at(0))).rejects.toMatchObject(absent)
    expect(await one.tickets.asOf(id, tenant, at(1))).toEqual(opened)
    expect(await one.tickets.asOf(id, tenant, at(2))).toEqual(opened)
    expect(await one.tickets.asOf(id, tenant, at(4))).toEqual(counted)
    expect(await one.tickets.asOf(id, tenant, at(6))).toEqual(closed)
    await expect(one.tickets.asOf(id, tenant, at(8))).rejects.toMatchObject(absent)
    await expect(one.tickets.asOf(id, tenant, undefined)).rejects.toMatchObject(absent)
    for (const elsewhere of [
      { ...tenant, workspaceId: 'ws_2' },
      { ...tenant, environment: 'staging' as const },
    ]) {
      await expect(one.tickets.asOf(id, elsewhere, at(4))).rejects.toMatchObject(absent)
    }
    const whole = one.store.aggregate(one.tickets.definition.decider, { present: (state) => state })
    expect(await whole.asOf(id, tenant, at(4))).toMatchObject({ passwordHash: `hash of ${id}` })
  })

  test('appends nothing for an empty decision', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    expect(await one.tickets.handle(id, { kind: 'touch' }, meta())).toMatchObject({ version: 1 })
    expect(await eventsOf(id)).toHaveLength(1)
  })

  test('checks If-Match against the version', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    expect(await one.tickets.handle(id, counted, meta({ expectedVersion: 1 }))).toMatchObject({ version: 2 })
    const stale = { code: 'precondition_failed' }
    await expect(one.tickets.handle(id, counted, meta({ expectedVersion: 1 }))).rejects.toMatchObject(stale)
    const results = await Promise.allSettled(
      [one, other, one, other].map(({ tickets }) =>
        tickets.handle(id, counted, meta({ expectedVersion: 2 })),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(stale)
  })

  test('completes 50 concurrent commands of one process on one aggregate', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    await Promise.all(Array.from({ length: 50 }, () => one.tickets.handle(id, counted, meta())))
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 50, version: 51 })
  })

  test('loses no update between two processes: each command is applied once or rejected', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => (index % 2 ? one : other).tickets.handle(id, counted, meta())),
    )
    const succeeded = results.filter(({ status }) => status === 'fulfilled').length
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'version_conflict' })
    expect(succeeded).toBeGreaterThan(0)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: succeeded, version: succeeded + 1 })
    expect((await eventsOf(id)).map(({ version }) => version)).toEqual(
      Array.from({ length: succeeded + 1 }, (_, index) => index + 1),
    )
  })

  test('commits 200 concurrent commands on as many aggregates', async () => {
    const opened = Array.from({ length: 200 }, () => openTicketArguments())
    await Promise.all(
      opened.map(([id, open], index) => (index % 2 ? one : other).tickets.create(id, open, meta())),
    )
    const counts = await Promise.all(opened.map(([id]) => one.tickets.handle(id, counted, meta())))
    expect(counts.every(({ version, count }) => version === 2 && count === 1)).toBe(true)
  })

  test('rejects only the conflicting commits of a group', async () => {
    const [takenId, takenOpen] = openTicketArguments('Taken', 'taken')
    await one.tickets.create(takenId, takenOpen, meta())
    const attempts = Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 0) return { command: openTicketArguments('Same slug', 'taken'), loses: true }
      if (index % 3 === 1) return { command: [takenId, takenOpen] as const, loses: true }
      return { command: openTicketArguments('Fine'), loses: false }
    })
    const results = await Promise.allSettled(
      attempts.map(({ command: [id, open] }) => one.tickets.create(id, open, meta())),
    )
    expect(results.map(({ status }) => status === 'rejected')).toEqual(attempts.map(({ loses }) => loses))
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
  })

  test('commits several aggregates together or not at all', async () => {
    const [first, openFirst] = openTicketArguments()
    const [second, openSecond] = openTicketArguments('Second', 'taken')
    await expect(
      one.store.transact(meta(), async (unit) => {
        await unit.create(one.tickets, first, openFirst)
        await unit.create(one.tickets, second, openSecond)
      }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(await one.tickets.find(first, tenant)).toBeNull()

    const staging = { workspaceId: 'ws_1', environment: 'staging' } as const
    const count = await one.store.transact(meta(), async (unit) => {
      await unit.create(one.tickets, first, openFirst)
      await unit.create(one.tickets, second, openSecond, { tenant: staging })
      return unit.handle(one.tickets, first, counted)
    })
    expect(count).toMatchObject({ id: first, count: 1, version: 2 })
    expect(await one.tickets.get(second, staging)).toMatchObject({ version: 1 })
  })

  test('does not find a record of another tenant that the same unit has found for that tenant', async () => {
    const staging = { workspaceId: 'ws_1', environment: 'staging' } as const
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta({ tenant: staging }))
    const found = await one.store.transact(meta(), async (unit) => [
      await unit.find(one.tickets, id, { tenant: staging }),
      await unit.find(one.tickets, id),
    ])
    expect(found).toMatchObject([{ version: 1 }, null])
  })

  test('decides a transaction again after it lost a race', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    let runs = 0
    const result = await one.store.transact(meta(), async (unit) => {
      const counting = await unit.handle(one.tickets, id, counted)
      if (runs++ === 0) await other.tickets.handle(id, counted, meta())
      return counting
    })
    expect(runs).toBe(2)
    expect(result).toMatchObject({ count: 2, version: 3 })
  })

  test('creates an aggregate in a transaction that lost a race for another one', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const [createdId, opened] = openTicketArguments()
    let runs = 0
    await one.store.transact(meta(), async (unit) => {
      await unit.handle(one.tickets, id, counted)
      await unit.create(one.tickets, createdId, opened)
      if (runs++ === 0) await other.tickets.handle(id, counted, meta())
    })
    expect(runs).toBe(2)
    expect(await one.tickets.get(createdId, tenant)).toMatchObject({ version: 1 })
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 2 })
  })

  test('decides again before it reports a unique violation, when it lost a race as well', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const [takenId, takenOpen] = openTicketArguments('First', 'a-slug-of-its-own')
    await one.tickets.create(takenId, takenOpen, meta())
    let runs = 0
    const deciding = one.store.transact(meta(), async (unit) => {
      await unit.handle(one.tickets, id, counted)
      await unit.create(one.tickets, ...openTicketArguments('Second', 'a-slug-of-its-own'))
      if (runs++ === 0) await other.tickets.handle(id, counted, meta())
    })
    await expect(deciding).rejects.toMatchObject({ code: 'conflict' })
    expect(runs).toBe(2)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 1, version: 2 })
  })

  test('serializes commands on several aggregates, in whatever order they are named', async () => {
    const [[left, openLeft], [right, openRight]] = [openTicketArguments(), openTicketArguments()]
    await one.tickets.create(left, openLeft, meta())
    await one.tickets.create(right, openRight, meta())
    const countBoth = (ids: readonly string[]) => {
      const work = async (unit: Parameters<Parameters<typeof one.store.transact>[1]>[0]) => {
        for (const id of ids) await unit.handle(one.tickets, id, counted)
      }
      return one.store.transact(meta(), work, { queueKey: ids })
    }
    const single = () => one.tickets.handle(left, counted, meta())
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => [
        countBoth(at % 2 === 0 ? [left, right] : [right, left, left]),
        single(),
      ]).flat(),
    )
    expect(await one.tickets.get(left, tenant)).toMatchObject({ count: 50 })
    expect(await one.tickets.get(right, tenant)).toMatchObject({ count: 20 })
  })

  test("decides within the caller's transaction, which commits or rolls back as a whole", async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const counting = (tx: Parameters<typeof one.store.within>[0]) =>
      one.store.within(tx, meta(), (unit) => unit.handle(one.tickets, id, counted))
    const undone = testStore.database.sql.begin(async (tx) => {
      await counting(tx)
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 0, version: 1 })

    await testStore.database.sql.begin(counting)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 1, version: 2 })
    expect((await eventsOf(id)).map(({ version }) => version)).toEqual([1, 2])
  })

  test("announces events appended in a caller's transaction after its commit, however that is started", async () => {
    let announced = 0
    const seen: number[] = []
    const { store, tickets, database } = testStore.replica({ onCommitWithin: () => announced++ })
    const counting = async (tx: Parameters<typeof store.within>[0], times = 1) => {
      const [id, open] = openTicketArguments()
      await store.within(tx, meta(), (unit) => unit.create(tickets, id, open))
      if (times > 1) await counting(tx, times - 1)
      seen.push(announced)
    }
    const { sql, db } = database
    await sql.begin((tx) => counting(tx))
    await sql.begin('isolation level repeatable read', (tx) => counting(tx, 3))
    await sql.begin((tx) =>
      tx.savepoint((inner) => inner.savepoint('part', (innermost) => counting(innermost))),
    )
    await db.transaction((tx) => tx.transaction((inner) => counting(toStatementRunner(inner))))
    expect(announced).toBe(4)
    // Never before the commit, because the events are not visible then.
    expect(seen).toEqual([0, 1, 1, 1, 2, 3])
    const undone = sql.begin(async (tx) => {
      await counting(tx)
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    await sql.begin((tx) => store.within(tx, meta(), async () => undefined))
    expect(announced).toBe(4)
    // A transaction whose commit could not be observed is rejected, rather than left for the relay's next poll.
    await expect(counting({ unsafe: sql.unsafe })).rejects.toThrow('Not a transaction')
  })

  test('accepts state that the caller has read under a lock, and the cause of each command', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const current = await one.tickets.find(id, tenant)
    if (current === null) throw new Error('no ticket')
    const counting = (tx: Parameters<typeof one.store.within>[0]) =>
      one.store.within(tx, meta(), async (unit) => {
        await unit.handle(one.tickets, id, counted, { current, causationId: 'evt_cause' })
        return unit.handle(one.tickets, id, counted, { current })
      })
    await testStore.database.sql.begin(counting)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 2, version: 3 })
    const causes = await testStore.database.sql`
      select causation_id from events where stream_id = ${id} and version > 1 order by version`
    expect(causes.map((row) => row.causation_id)).toEqual(['evt_cause', null])
    await expect(testStore.database.sql.begin(counting)).rejects.toBeInstanceOf(VersionRaceError)
  })

  test("creates an aggregate within the caller's transaction, under a new id", async () => {
    const [id, open] = openTicketArguments()
    const creating = (tx: Parameters<typeof one.store.within>[0]) =>
      one.store.within(tx, meta(), (unit) => unit.create(one.tickets, id, open))
    await testStore.database.sql.begin(creating)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ version: 1 })
    await expect(testStore.database.sql.begin(creating)).rejects.toBeInstanceOf(VersionRaceError)
  })

  test("reports a lost race to the caller's transaction", async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    const raced = testStore.database.sql.begin((tx) =>
      one.store.within(tx, meta(), async (unit) => {
        const counting = await unit.handle(one.tickets, id, counted)
        await other.tickets.handle(id, counted, meta())
        return counting
      }),
    )
    await expect(raced).rejects.toBeInstanceOf(VersionRaceError)
    expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 1, version: 2 })
  })

  test('never moves a row back to an older version', async () => {
    const [id, open] = openTicketArguments()
    await one.tickets.create(id, open, meta())
    await testStore.database.sql`update tickets set version = 9 where id = ${id}`
    await testStore.database.sql`delete from stream_heads where stream_id = ${id}`
    await one.tickets.create(id, open, meta())
    expect(await one.tickets.find(id, tenant)).toMatchObject({ version: 9 })
  })
})
