import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import {
  meta,
  openTestStore,
  openTicketArguments,
  readModels,
  schema,
  type TestStore,
  tenant,
} from '../fixture/test-database.js'
import { ticketDecider } from '../fixture/ticket.js'
import { rebuild } from './rebuild.js'

describe('rebuild', () => {
  let testStore: TestStore
  const now = '2026-01-01T00:00:00.000Z'
  const deciders = [ticketDecider]

  beforeAll(async () => {
    testStore = await openTestStore()
  })
  afterAll(() => testStore.close())
  const rebuildAll = () =>
    rebuild({ adminUrl: testStore.url, schema, deciders, projectedTables: ['ticket_titles'] })

  beforeEach(async () => {
    const { tickets } = testStore.replica()
    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const [id, open] = openTicketArguments(`Ticket ${index}`)
        const tenant = index % 2 ? meta() : meta({ tenant: { workspaceId: 'ws_2', environment: 'staging' } })
        await tickets.create(id, open, tenant)
        if (index % 3 > 0) await tickets.handle(id, { kind: 'count', now }, tenant)
        if (index % 5 === 0) await tickets.handle(id, { kind: 'close', now }, tenant)
        if (index % 7 === 0) await tickets.handle(id, { kind: 'delete' }, tenant)
      }),
    )
  })

  test('reproduces the same rows, also from a corrupted read model', async () => {
    const before = await readModels(testStore.database)
    const { events } = await rebuildAll()
    expect(events).toBeGreaterThan(800)
    expect(await readModels(testStore.database)).toEqual(before)

    await testStore.database.sql`update tickets set state = '{"id":"wrong"}', version = 1000`
    await testStore.database.sql`delete from ticket_titles`
    await rebuildAll()
    expect(await readModels(testStore.database)).toEqual(before)
  })

  test('is consistent with concurrent commits', async () => {
    const { tickets } = testStore.replica()
    const opened = Array.from({ length: 50 }, () => openTicketArguments())
    await Promise.all([
      rebuildAll(),
      ...opened.map(async ([id, open]) => {
        await tickets.create(id, open, meta())
        await tickets.handle(id, { kind: 'count', now }, meta())
      }),
    ])
    const after = await readModels(testStore.database)
    await rebuildAll()
    expect(await readModels(testStore.database)).toEqual(after)
  })

  test('completes despite a deadlock with a writer that has locked a row and waits to append', async () => {
    const before = await readModels(testStore.database)
    const { sql } = testStore.database
    let rebuilding: Promise<unknown> = Promise.resolve()
    const writing = sql.begin(async (tx) => {
      await tx`select 1 from tickets for update`
      rebuilding = rebuildAll().catch((error: unknown) => error)
      await waitFor(rebuildWaits)
      await tx`lock table events in row exclusive mode`
    })
    // Postgres chooses which of the two it aborts; a writer retries as well.
    await writing.catch((error: unknown) => expect(error).toMatchObject({ code: '40P01' }))
    expect(await rebuilding).toMatchObject({ events: expect.any(Number) })
    expect(await readModels(testStore.database)).toEqual(before)
  })

  /** When the rebuild's transaction started, if it waits for a lock; otherwise `undefined`. */
  const rebuildWaits = async () => {
    const [waiting] = await testStore.database.sql<{ since: string }[]>`
      select xact_start::text as since from pg_stat_activity where datname = current_database()
        and application_name = ${`opsplane-${schema}-rebuild`} and wait_event_type = 'Lock'`
    return waiting?.since
  }

  test('loses no folded events when the tables could not be swapped', async () => {
    const { sql } = testStore.database
    const { store, tickets } = testStore.replica()
    const late = openTicketArguments()
    let rebuilding: Promise<unknown> = Promise.resolve()
    // Like autovacuum, this locks a table that is not visible to others yet.
    await sql.begin(async (holding) => {
      await sql.begin(async (writing) => {
        await writing`select 1 from ticket_titles limit 1`
        rebuilding = rebuildAll()
        await waitFor(rebuildWaits)
        await holding.unsafe(`lock table ${schema}_rebuild.tickets in access share mode`)
        await store.within(writing, meta(), (unit) => unit.create(tickets, ...late))
      })
      const since = await waitFor(rebuildWaits)
      await waitFor(async () => (await rebuildWaits()) !== since)
    })
    await rebuilding
    expect(await tickets.find(late[0], tenant)).toMatchObject({ version: 1 })
  })

  test('allows reads and writes while it builds, and includes late commits', async () => {
    const before = await readModels(testStore.database)
    await testStore.database
      .sql`update tickets set state = jsonb_set(state::jsonb, '{title}', '"spoilt"')::json`
    const { store, tickets } = testStore.replica()
    let rebuilding: Promise<unknown> = Promise.resolve()
    const opened = Array.from({ length: 20 }, () => openTicketArguments())
    const late = openTicketArguments()
    await testStore.database.sql.begin(async (tx) => {
      // Its log position is before those of all events below, but it becomes visible after them.
      await store.within(tx, meta(), (unit) => unit.create(tickets, ...late))
      rebuilding = rebuildAll()
      await waitFor(async () => {
        const shadows = await testStore.database
          .sql`select from pg_namespace where nspname = ${`${schema}_rebuild`}`
        return shadows.length > 0
      })
      for (const [id, open] of opened) {
        await tickets.create(id, open, meta())
        await tickets.handle(id, { kind: 'count', now }, meta())
      }
      const [spoilt] = await testStore.database.sql`
        select count(*)::int as n from tickets where state->>'title' = 'spoilt'`
      expect(spoilt?.n).toBeGreaterThan(300)
    })
    await rebuilding
    expect(await tickets.find(late[0], tenant)).toMatchObject({ version: 1 })
    for (const [id] of opened) expect(await tickets.find(id, tenant)).toMatchObject({ version: 2 })
    for (const [id] of [...opened, late]) await tickets.handle(id, { kind: 'delete' }, meta())
    await testStore.database
      .sql`delete from ticket_titles where substr(id, 7) = any(${[...opened, late].map(([id]) => id)})`
    expect(await readModels(testStore.database)).toEqual(before)
  })

  test('waits for a long-running reader of a table without blocking other transactions', async () => {
    const { tickets } = testStore.replica()
    let rebuilding: Promise<unknown> = Promise.resolve()
    const created: string[] = []
    await testStore.database.sql.begin(async (tx) => {
      await tx`select 1 from tickets limit 1`
      rebuilding = rebuildAll()
      await waitFor(rebuildWaits)
      for (let round = 0; round < 20; round++) {
        const [id, open] = openTicketArguments()
        await tickets.create(id, open, meta())
        created.push(id)
      }
    })
    await rebuilding
    for (const id of created) expect(await tickets.find(id, tenant)).toMatchObject({ version: 1 })
  })

  test('produces the same rows under concurrent writes, repeatedly', async () => {
    const { tickets } = testStore.replica()
    let rebuilt = false
    const writer = async () => {
      while (!rebuilt) {
        const [id, open] = openTicketArguments()
        await tickets.create(id, open, meta())
        await tickets.handle(id, { kind: 'close', now }, meta())
        if (id.endsWith('0') || id.endsWith('A')) await tickets.handle(id, { kind: 'delete' }, meta())
      }
    }
    const writing = Promise.all(Array.from({ length: 8 }, writer))
    for (let round = 0; round < 3; round++) await rebuildAll()
    rebuilt = true
    await writing
    const live = await readModels(testStore.database)
    await rebuildAll()
    expect(await readModels(testStore.database)).toEqual(live)
  })

  test('preserves indexes, constraints, computed columns and permissions of the tables', async () => {
    const { sql } = testStore.database
    const described = () => sql`
      select c.relname, c.relkind, pg_get_userbyid(c.relowner) as owner, c.relacl::text as rights,
        (select json_agg(pg_get_indexdef(i.indexrelid) order by i.indexrelid::regclass::text) from pg_index i where i.indrelid = c.oid) as indexes,
        (select json_agg(k.conname || pg_get_constraintdef(k.oid) order by k.conname) from pg_constraint k where k.conrelid = c.oid) as constraints,
        (select json_agg(json_build_array(a.attname, a.atttypid, a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) order by a.attnum)
          from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          where a.attrelid = c.oid and a.attnum > 0) as columns
      from pg_class c where c.relnamespace = ${schema}::regnamespace and c.relkind in ('r', 'p') order by 1`
    const before = await described()
    expect(JSON.stringify(before)).toContain('tickets_slug_key')
    expect(JSON.stringify(before)).toContain(`${schema}=arwd`)
    await rebuildAll()
    expect(await described()).toEqual(before)
    expect(await sql`select from pg_namespace where nspname like '%rebuild%'`).toEqual([])

    const { tickets } = testStore.replica()
    await tickets.create(...openTicketArguments('First', 'same-slug'), meta())
    await expect(tickets.create(...openTicketArguments('Second', 'same-slug'), meta())).rejects.toMatchObject(
      {
        details: [{ params: { constraint: 'tickets_slug_key' } }],
      },
    )
  })

  test('changes nothing when an event has no decider', async () => {
    const before = await readModels(testStore.database)
    await testStore.database.sql`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data, created_at)
      values (new_event_id(), 'strays', 'x', 1, 'stray.created', 'ws_1', 'production', '{}', '{}', '{}', now())`
    await expect(rebuildAll()).rejects.toThrow('strays')
    expect(await readModels(testStore.database)).toEqual(before)
  })
})
