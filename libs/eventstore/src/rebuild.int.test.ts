import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
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

  test('changes nothing when an event has no decider', async () => {
    const before = await readModels(testStore.database)
    await testStore.database.sql`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data, created_at)
      values ('evt_stray', 'strays', 'x', 1, 'stray.created', 'ws_1', 'production', '{}', '{}', '{}', now())`
    await expect(rebuildAll()).rejects.toThrow('strays')
    expect(await readModels(testStore.database)).toEqual(before)
  })
})
