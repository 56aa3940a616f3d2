import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { meta, opening, openTestStore, readModels, schema, type TestStore } from './fixture/test-database.js'
import { ticketDecider } from './fixture/ticket.js'
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
        const [id, open] = opening(`Ticket ${index}`)
        const tenant = index % 2 ? meta() : meta({ tenant: { workspaceId: 'ws_2', environment: 'staging' } })
        await tickets.create(id, open, tenant)
        if (index % 3 > 0) await tickets.handle(id, { kind: 'count', now }, tenant)
        if (index % 5 === 0) await tickets.handle(id, { kind: 'close', now }, tenant)
        if (index % 7 === 0) await tickets.handle(id, { kind: 'delete' }, tenant)
      }),
    )
  })

  test('makes the same rows again, also from a spoilt read model', async () => {
    const before = await readModels(testStore.database)
    const { events } = await rebuildAll()
    expect(events).toBeGreaterThan(800)
    expect(await readModels(testStore.database)).toEqual(before)

    await testStore.database.sql`update tickets set state = '{"id":"wrong"}', version = 1000`
    await testStore.database.sql`delete from ticket_titles`
    await rebuildAll()
    expect(await readModels(testStore.database)).toEqual(before)
  })

  test('is consistent with commits that happen at the same time', async () => {
    const { tickets } = testStore.replica()
    const opened = Array.from({ length: 50 }, () => opening())
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

  test('goes on where a writer holds a row that it waits for, and waits for it to append', async () => {
    const before = await readModels(testStore.database)
    const { sql } = testStore.database
    let rebuilding: Promise<unknown> = Promise.resolve()
    const writing = sql.begin(async (tx) => {
      await tx`select 1 from tickets for update`
      rebuilding = rebuildAll().catch((error: unknown) => error)
      await waitFor(async () => {
        const waiting = await sql`
          select 1 from pg_stat_activity where datname = current_database()
            and application_name = ${`opsplane-${schema}-rebuild`} and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
      await tx`lock table events in row exclusive mode`
    })
    // Which of the two Postgres ends is chance; a writer begins anew as well.
    await writing.catch((error: unknown) => expect(error).toMatchObject({ code: '40P01' }))
    expect(await rebuilding).toMatchObject({ events: expect.any(Number) })
    expect(await readModels(testStore.database)).toEqual(before)
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
