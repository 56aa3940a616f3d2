import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Migration, OrderedMigrations, Promotion, StudioRecord, Table } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { listTypes, type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
let staging: ApiClient
beforeAll(async () => {
  at = await startMigrations()
  staging = at.service.as(testPrincipal({ workspaceId: at.workspaceId, environment: 'staging' }))
})
afterAll(() => at?.stop())

const applied = async (to: ApiClient) =>
  (await to.get('/migrations?status=applied')).page(Migration).items.map(({ name }) => name)

describe('the order of migrations', () => {
  test('is the order of application, even if a later migration was applied first, and promotion follows it', async () => {
    await at.migrated('Rooms', 'create table rooms (name text)')
    const late = await at.wrote({ name: 'Seats', up: "update rooms set size = 'small'" })
    const add = [{ name: 'size', type: 'text' }]
    await at.api.patch('/tables/rooms', { columns: { add } })
    const { number } = await at.applied(late)
    expect(number).toBeGreaterThan(late.number)
    expect(await applied(at.api)).toEqual(['Rooms', 'Change rooms', 'Seats'])

    const waiting = await at.wrote({ name: 'Own', up: 'create table own (a text)' }, staging)
    const dry = await staging.post('/migrations/promote', { from: 'production', dryRun: true })
    expect(dry.data(Promotion).migrations).toHaveLength(3)
    expect(await applied(staging)).toEqual([])
    expect((await staging.post('/migrations/promote', { from: 'production' })).status).toBe(200)
    await at.applied(waiting, staging)
    expect(await applied(staging)).toEqual(['Rooms', 'Change rooms', 'Seats', 'Own'])
  })

  test("a promotion's dry run reports which migration would fail halfway, and why", async () => {
    await at.migrated('Desks', 'create table desks (name text)')
    await at.migrated('Names', 'alter table desks alter column name set not null')
    await at.migrated('Filled', "insert into rooms (name) values ('a'); alter table rooms add unique (name)")
    await staging.post('/tables/rooms/records', { name: 'a' })
    for (const dryRun of [true, false]) {
      const answer = (await staging.post('/migrations/promote', { from: 'production', dryRun })).error()
      expect(answer).toMatchObject({
        code: 'validation_failed',
        message: expect.stringMatching(
          /^Migration \d+ \(Filled\): The SQL failed: could not create unique index/,
        ),
        details: [{ path: '/from', params: { migration: { name: 'Filled' }, statement: 2 } }],
      })
      const there = (await staging.get('/tables')).page(Table).items.map(({ slug }) => slug)
      expect(there.includes('desks')).toBe(!dryRun)
    }
  })

  test('the dry run of a promotion accepts an index that is built concurrently', async () => {
    const [record] = (await staging.get('/tables/rooms/records')).page(StudioRecord).items
    await staging.send('DELETE', `/tables/rooms/records/${record?.id}`)
    const index = await at.wrote({
      name: 'Index',
      up: 'create index concurrently rooms_size on rooms (size)',
      transactional: false,
    })
    await at.applied(index)
    for (const dryRun of [true, false]) {
      const answer = await staging.post('/migrations/promote', { from: 'production', dryRun })
      expect(answer.data(Promotion).migrations.map(({ name }) => name)).toEqual(['Filled', 'Index'])
    }
  })
})

describe('a migration that is not applied', () => {
  test('can be edited, and is pending again after a failure', async () => {
    const made = await at.wrote({ name: 'Wrong', up: 'alter table nowhere add a text' })
    expect((await at.api.post(`/migrations/${made.id}/apply`, {})).status).toBe(422)
    const body = { name: 'Right', up: 'create table nowhere (a text)', down: 'drop table nowhere' }
    const events = await at.eventsOf(async () => {
      const edited = (await at.api.patch(`/migrations/${made.id}`, body)).data(Migration)
      expect(edited).toMatchObject({ ...body, status: 'pending', error: null, number: made.number })
      expect(edited.checksum).not.toBe(made.checksum)
      expect((await at.api.patch(`/migrations/${made.id}`, { up: 'vacuum' })).error().details).toMatchObject([
        { path: '/up' },
      ])
      expect((await at.api.patch(`/migrations/${made.id}`, { transactional: false })).status).toBe(422)
    })
    expect(listTypes(events)).toEqual(['migration.updated'])
    expect(await at.applied(made)).toMatchObject({ name: 'Right', status: 'applied' })
    expect((await at.api.patch(`/migrations/${made.id}`, { name: 'x' })).error()).toMatchObject({
      code: 'invalid_state_transition',
    })
  })

  test('can be moved before others', async () => {
    const first = await at.wrote({ name: 'First', up: 'alter table later add b text' })
    const second = await at.wrote({ name: 'Second', up: 'create table later (a text)' })
    expect((await at.api.post(`/migrations/${second.id}/apply`, {})).error().message).toContain(
      'An earlier migration is not applied',
    )
    const order = (ids: string[]) => at.api.send('PUT', '/migrations/order', { body: { ids } })
    for (const ids of [
      [second.id, second.id],
      [second.id, first.id, at.workspaceId],
    ])
      expect((await order(ids)).error().details).toMatchObject([{ path: '/ids' }])
    expect(await at.eventsOf(() => order([first.id, second.id]))).toEqual([])
    const ordered = (await order([second.id])).data(OrderedMigrations).migrations
    expect(ordered.map(({ name }) => name)).toEqual(['Second', 'First'])
    await at.applied(second)
    await at.applied(first)
  })
})

describe('a table that a migration drops', () => {
  const restored = (slug: string) => at.api.post(`/tables/${slug}/restore`, {})

  test('is moved to the trash with its records, and can be restored', async () => {
    await at.migrated(
      'Kept',
      `create type shade as enum ('light'); create table shelves (number serial, shade shade, name text unique);
      create table books (shelf text references shelves (name)); create index on shelves (shade)`,
    )
    await at.api.post('/tables/shelves/records', { name: 'a', shade: 'light' })
    const refused = await at.wrote({ name: 'Refused', up: 'drop table shelves' })
    expect((await at.api.post(`/migrations/${refused.id}/apply`, {})).error().details).toMatchObject([
      { params: { sqlState: '2BP01', detail: expect.stringContaining('books') } },
    ])
    await at.deleted(refused)
    const events = await at.eventsOf(() =>
      at.migrated('Gone', 'drop table if exists missing, shelves cascade; drop type shade'),
    )
    expect(listTypes(events).filter((type) => type.startsWith('table.'))).toEqual([
      'table.deleted',
      'table.updated',
    ])
    expect((await at.api.get('/tables/shelves')).status).toBe(404)
    expect((await at.api.get('/tables/books')).data(Table).columns).toMatchObject([{ type: 'text' }])
    await at.migrated('Again', 'create table shelves (number serial, name text unique); drop table shelves')
    expect((await restored('shelves')).status).toBe(200)
    const [record] = (await at.api.get('/tables/shelves/records')).page(StudioRecord).items
    expect(record).toMatchObject({ name: 'a', shade: 'light', number: 1 })
    expect((await at.api.post('/tables/shelves/records', { name: 'b' })).data(StudioRecord)).toMatchObject({
      number: 2,
    })
    expect(await at.drift()).toMatchObject({ inSync: true })
  })

  test('is moved to the trash together with tables that refer to it, if the same statement drops them', async () => {
    await at.migrated(
      'Pair',
      'create table halves (name text unique); create table wholes (half text references halves (name))',
    )
    await at.migrated('Both', 'drop table halves, wholes')
    for (const slug of ['halves', 'wholes']) expect((await at.api.get(`/tables/${slug}`)).status).toBe(404)
    for (const slug of ['halves', 'wholes']) expect((await restored(slug)).status).toBe(200)
    expect((await at.api.get('/tables/wholes')).data(Table).columns).toMatchObject([{ type: 'reference' }])
  })

  test('is reported as missing if it does not exist', async () => {
    const made = await at.wrote({ name: 'Absent', up: 'drop table absent' })
    expect((await at.api.post(`/migrations/${made.id}/apply`, {})).error()).toMatchObject({
      message: 'The SQL failed: table "absent" does not exist',
      details: [{ params: { sqlState: '42P01', statement: 1 } }],
    })
    await at.deleted(made)
  })
})
