import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { idFactory } from '@opsplane/contracts'
import { connect, listPartitions } from '@opsplane/postgres'
import { testRole, testRolePassword, waitFor } from '@opsplane/testing'
import {
  log,
  meta,
  openTestStore,
  openTicketArguments,
  schema,
  type TestStore,
  tenant,
} from './fixture/test-database.js'
import { createMonths, startMonths } from './log-months.js'

let testStore: TestStore
beforeAll(async () => {
  testStore = await openTestStore()
})
afterAll(() => testStore.close())

const hourMs = 3_600_000
const now = '2026-01-01T00:00:00.000Z'
const count = { kind: 'count', now } as const
/** A replica whose clock starts at `ms` and runs on. */
const replicaAt = (ms: number) => {
  const newId = idFactory(() => ms++)
  return testStore.replica({ eventId: () => newId('event') })
}
const months = () => listPartitions(testStore.database.sql, 'events')
const partitionsWith = async (id: string) =>
  (
    await testStore.database.sql<{ name: string }[]>`
      select tableoid::regclass::text as name from events where stream_id = ${id} order by version`
  ).map(({ name }) => name)

describe('the log partitioned by month', () => {
  const turn = Date.parse('2031-03-01T00:00:00.000Z')
  const clocks = [-hourMs, hourMs, -1, 0]

  test('guards versions and ids across the turn of a month, whatever the clocks of the replicas', async () => {
    const replicas = clocks.map((skew) => replicaAt(turn + skew))
    const [early, late] = replicas
    if (!early || !late) throw new Error('no replicas')
    const [id, open] = openTicketArguments()
    await late.tickets.create(id, open, meta())
    expect(await early.tickets.handle(id, count, meta())).toMatchObject({ version: 2 })
    expect(await late.tickets.handle(id, count, meta())).toMatchObject({ version: 3 })
    expect(await partitionsWith(id)).toEqual(['events_203103', 'events_203102', 'events_203103'])
    expect(await late.tickets.asOf(id, tenant, '2999-01-01T00:00:00.000Z')).toMatchObject({ version: 3 })

    for (let round = 0; round < 10; round++) {
      const args = openTicketArguments()
      const created = await Promise.allSettled(replicas.map(({ tickets }) => tickets.create(...args, meta())))
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const counted = await Promise.allSettled(
        replicas.map(({ tickets }) => tickets.handle(args[0], count, meta({ expectedVersion: 1 }))),
      )
      expect(counted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of [...created, ...counted])
        if (result.status === 'rejected')
          expect(['conflict', 'precondition_failed']).toContain((result.reason as { code?: string }).code)
    }
    expect(
      await testStore.database.sql`
      select stream_id from events group by stream_id having count(*) <> max(version) or count(distinct version) <> count(*)
    `,
    ).toEqual([])
  })

  test('continues the stream of a deleted record in another month, and only in its own workspace', async () => {
    const [early, late] = [replicaAt(turn - hourMs), replicaAt(turn + 40 * 24 * hourMs)]
    const [id, open] = openTicketArguments()
    await early.tickets.create(id, open, meta())
    await early.tickets.handle(id, { kind: 'delete' }, meta())
    const [head] = await testStore.database
      .sql`select version, ended from stream_heads where stream_id = ${id}`
    expect(head).toEqual({ version: 2, ended: true })
    const elsewhere = meta({ tenant: { ...tenant, workspaceId: 'ws_2' } })
    await expect(late.tickets.create(id, open, elsewhere)).rejects.toMatchObject({ code: 'conflict' })
    expect(await late.tickets.create(id, open, meta())).toMatchObject({ version: 3 })
    expect(await partitionsWith(id)).toEqual(['events_203102', 'events_203102', 'events_203104'])
    const [again] = await testStore.database
      .sql`select version, ended from stream_heads where stream_id = ${id}`
    expect(again).toEqual({ version: 3, ended: false })
  })

  test("creates a missing month on demand, also within the caller's transaction", async () => {
    const later = Date.parse('2033-07-15T00:00:00.000Z')
    const replicas = Array.from({ length: 4 }, () => replicaAt(later))
    await Promise.all(replicas.map(({ tickets }) => tickets.create(...openTicketArguments(), meta())))
    const { store, tickets } = replicaAt(Date.parse('2033-09-15T00:00:00.000Z'))
    await testStore.database.sql.begin((tx) =>
      store.within(tx, meta(), (unit) => unit.create(tickets, ...openTicketArguments())),
    )
    expect(await months()).toEqual(expect.arrayContaining(['events_203307', 'events_203309']))
  })

  test('recreates a month whose creation was rolled back', async () => {
    const { store, tickets } = replicaAt(Date.parse('2034-03-15T00:00:00.000Z'))
    const failing = testStore.database.sql.begin(async (tx) => {
      for (let n = 0; n < 2; n++)
        await store.within(tx, meta(), (unit) => unit.create(tickets, ...openTicketArguments()))
      throw new Error('not to be')
    })
    await expect(failing).rejects.toThrow('not to be')
    expect(await tickets.create(...openTicketArguments(), meta())).toMatchObject({ version: 1 })
  })

  test('checks for an existing month only once, also in a transaction that has already written', async () => {
    const id = idFactory(() => Date.parse('2034-05-15T00:00:00.000Z'))('event')
    const made = createMonths('add_event_month')
    await testStore.database.sql.begin(async (tx) => {
      await tx.savepoint(async (inner) => {
        await made.ensure(inner, id)
        expect(made.ensure(inner, id)).toBeDefined()
      })
      await made.ensure(tx, id)
      expect(made.ensure(tx, id)).toBeDefined()
    })
    const there = createMonths('add_event_month')
    await testStore.database.sql.begin(async (tx) => {
      await tx`select pg_current_xact_id()`
      await there.ensure(tx, id)
      expect(there.ensure(tx, id)).toBeUndefined()
    })
  })

  test('is created three months ahead, by a role that cannot change stored events', async () => {
    const url = new URL(testStore.url)
    url.username = testRole(schema)
    url.password = testRolePassword
    const own = connect(url.href, { schema })
    try {
      const making = startMonths(own.sql, log, 'add_event_month')
      const ahead = await own.sql<{ name: string }[]>`
        select to_char(now() at time zone 'UTC' + make_interval(months => n), '"events_"YYYYMM') as name
        from generate_series(0, 3) n`
      await waitFor(async () => {
        const made = await months()
        return ahead.every(({ name }) => made.includes(name))
      })
      await making.close()
      const { tickets } = testStore.replica({ database: own })
      const [id, open] = openTicketArguments()
      await tickets.create(id, open, meta())
      const denied = { code: '42501' }
      const [partition = ''] = await partitionsWith(id)
      for (const table of ['events', partition])
        for (const change of [`update ${table} set type = 'x'`, `delete from ${table}`, `truncate ${table}`])
          await expect(own.sql.unsafe(change)).rejects.toMatchObject(denied)
    } finally {
      await own.close()
    }
  })
})
