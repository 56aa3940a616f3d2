import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { DryRun, Migration, Promotion } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { listTypes, type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let fixture: MigrationsFixture
let {
  workspaceId,
  principal,
  service,
  api,
  wrote,
  applied,
  rolledBack,
  deleted,
  migrated,
  rows,
  drift,
  eventsOf,
  definition,
} = {} as MigrationsFixture

beforeAll(async () => {
  fixture = await startMigrations()
  ;({
    workspaceId,
    principal,
    service,
    api,
    wrote,
    applied,
    rolledBack,
    deleted,
    migrated,
    rows,
    drift,
    eventsOf,
    definition,
  } = fixture)
})
afterAll(() => fixture?.stop())

describe('a migration', () => {
  it('creates tables with the standard columns, changes rows with their history, and is rolled back', async () => {
    const up = `
      create type mood as enum ('fine', 'bad');
      create table houses (name varchar(80) not null unique, built date);
      create table rooms (
        house text not null references houses (id) on delete cascade,
        name text not null,
        seats integer default 4 check (seats > 0),
        price numeric(10, 2),
        state mood,
        label text generated always as (lower(name)) stored,
        unique (house, name)
      );
      create index rooms_price on rooms (price desc);
      comment on table rooms is 'Where people meet';
      insert into houses (name) values ('A'), ('B');
      insert into rooms (house, name) select id, 'Hall' from houses;
      update rooms set seats = seats + 1;`
    const down = 'drop table rooms; drop table houses; drop type mood'
    const draft = await wrote({ name: 'Houses', up, down })
    expect(draft).toMatchObject({ number: 1, status: 'pending', origin: 'sql', appliedAt: null, version: 1 })
    const events = await eventsOf(async () => {
      expect(await applied(draft)).toMatchObject({
        status: 'applied',
        appliedAt: expect.any(String),
        version: 2,
      })
    })
    expect(listTypes(events)).toEqual([
      ...[
        'record.created',
        'record.created',
        'record.created',
        'record.created',
        'record.updated',
        'record.updated',
      ],
      ...['migration.applied', 'table.created', 'table.created'],
    ])
    expect(events.every(({ actor }) => actor.id === principal.actor.id)).toBe(true)
    expect(events[4]?.data).toMatchObject({
      before: { seats: 4, version: 1 },
      after: { seats: 5, version: 2, tableSlug: 'rooms' },
    })

    expect(await definition('houses')).toMatchObject({
      columns: [
        { name: 'name', type: 'text', maxLength: 80, nullable: false, unique: true },
        { name: 'built', type: 'date', nullable: true, unique: false },
      ],
    })
    const { columns, ...rooms } = (await definition('rooms')) ?? {}
    expect(rooms).toMatchObject({
      ...{ slug: 'rooms', name: 'rooms', description: 'Where people meet', purgeAt: null },
      indexes: [
        {
          name: 'rooms_price',
          kind: 'btree',
          unique: false,
          columns: [{ name: 'price', direction: 'desc' }],
        },
      ],
      uniques: [{ name: 'rooms_house_name_key', columns: ['house', 'name'] }],
      checks: [{ name: 'rooms_seats_check', expression: '(seats > 0)' }],
    })
    expect(columns).toMatchObject([
      { name: 'house', type: 'reference', table: 'houses', onDelete: 'cascade', nullable: false },
      { name: 'name', type: 'text', nullable: false },
      { name: 'seats', type: 'integer', default: { expression: '4' } },
      { name: 'price', type: 'decimal', precision: 10, scale: 2 },
      { name: 'state', type: 'enum', values: ['fine', 'bad'] },
      { name: 'label', type: 'computed', resultType: 'text', expression: 'lower(name)' },
    ])
    expect(await rows('select label, seats, version from rooms')).toEqual([
      { label: 'hall', seats: 5, version: 2 },
      { label: 'hall', seats: 5, version: 2 },
    ])
    expect(await drift()).toEqual({ inSync: true, differences: [] })

    const back = await eventsOf(async () => {
      expect(await rolledBack(draft)).toMatchObject({ status: 'rolled_back', appliedAt: null })
    })
    expect(listTypes(back).sort()).toEqual([...['migration.rolled_back', 'table.deleted', 'table.deleted']])
    expect(await definition('rooms')).toBeUndefined()
    expect((await deleted(draft)).status).toBe(204)
  })

  it('changes tables, and keeps the parts of their definitions it does not affect', async () => {
    await migrated('People', "create table people (name text not null, born date, kind text default 'a')")
    const before = await definition('people')
    const [record] = await service.sql<
      { id: string }[]
    >`select id from tables where state->>'slug' = 'people'`
    const events = await eventsOf(() =>
      migrated(
        'People change',
        `insert into people (name) values ('Ada');
         alter table people rename column born to birthday;
         alter table people add column age bigint, alter column kind drop default, alter column name drop not null;
         update people set age = 36;
         alter table people rename to persons;
         insert into persons (name) values ('Bob');
         create unique index persons_name on persons (name);
         create index persons_lower on persons (lower(name))`,
      ),
    )
    expect(listTypes(events)).toEqual([
      'migration.created',
      'record.created',
      'record.updated',
      'record.created',
      'migration.applied',
      'table.updated',
    ])
    expect(events[2]?.data.after).toMatchObject({
      name: 'Ada',
      age: '36',
      birthday: null,
      tableSlug: 'people',
    })
    expect(events[3]?.data.after).toMatchObject({ name: 'Bob', tableSlug: 'persons' })
    expect(events[5]?.stream).toBe(record?.id)
    expect(await definition('persons')).toMatchObject({
      id: before?.id,
      columns: [
        { name: 'name', nullable: true },
        { name: 'birthday', type: 'date' },
        { name: 'kind', default: null },
        { name: 'age', type: 'bigint' },
      ],
      indexes: [{ name: 'persons_name', unique: true, columns: [{ name: 'name', direction: 'asc' }] }],
    })
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it('is rolled back completely on failure, reports the failed statement, and can be applied again', async () => {
    const draft = await wrote({
      name: 'Fails',
      up: "create table gone (a integer);\ninsert into gone (a) values (1);\n insert into gone (a) values ('é' || nope)",
    })
    const events = await eventsOf(async () => {
      const answer = await api.post(`/migrations/${draft.id}/apply`, {})
      expect(answer.status).toBe(422)
      expect(answer.error().details?.[0]).toMatchObject({
        path: '/up',
        params: { sqlState: '42703', statement: 3, position: 102 },
      })
    })
    expect(listTypes(events)).toEqual(['migration.failed'])
    expect((await api.get(`/migrations/${draft.id}`)).data(Migration)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('nope'),
    })
    expect((await api.post('/queries/run', { sql: 'select * from gone' })).status).toBe(422)
    expect((await deleted(draft)).status).toBe(204)
  })

  it.each([
    ['a serial id', 'create table x (id serial primary key)', '42P16'],
    ['another primary key', 'create table x (name text primary key)', '42P16'],
    ['a version of another type', 'create table x (version text)', '42P16'],
    ['a name that is none of a table', 'create table "Capital" (a text)', '42602'],
    ['the removal of a base column', 'create table x (a text); alter table x drop column version', '42501'],
    [
      'rows of platform tables',
      'create table x (a text); insert into x select id from database_studio.events',
      'statement_refused',
    ],
  ])('is rejected with the reason from Postgres: %s', async (_, up, reason) => {
    const answer = await api.post('/migrations', { name: 'Refused', up })
    if (answer.status === 422) return expect(answer.error().details?.[0]?.code).toBe(reason)
    const draft = answer.data(Migration)
    const failed = await api.post(`/migrations/${draft.id}/apply`, {})
    expect(failed.status).toBe(422)
    expect(failed.error().details?.[0]?.params).toMatchObject({ sqlState: reason })
    expect((await deleted(draft)).status).toBe(204)
  })

  it('is applied in order, and rolled back in reverse order', async () => {
    const first = await wrote({ name: 'One', up: 'create table one (a text)', down: 'drop table one' })
    const second = await wrote({
      name: 'Two',
      up: 'alter table one add b text',
      down: 'alter table one drop b',
    })
    const third = await wrote({ name: 'Three', up: 'alter table one add c text' })
    const conflict = async (path: string, part: string) => {
      const answer = await api.post(path, {})
      expect(answer.status).toBe(409)
      expect(answer.error().message).toContain(part)
    }
    await conflict(`/migrations/${second.id}/apply`, '(One)')
    await conflict(`/migrations/${first.id}/rollback`, 'Cannot roll_back while pending')
    await applied(first)
    await conflict(`/migrations/${first.id}/apply`, 'Cannot apply while applied')
    await applied(second)
    await applied(third)
    await conflict(`/migrations/${second.id}/rollback`, '(Three)')
    await conflict(`/migrations/${third.id}/rollback`, 'no `down`')
    expect((await deleted(third)).status).toBe(409)
    const listed = (await api.get('/migrations?status=applied')).page(Migration)
    expect(listed.items.map(({ name }) => name).slice(-3)).toEqual(['One', 'Two', 'Three'])
  })

  it('blocks other migrations in its environment while it runs', async () => {
    const { name } = await migrated('Wait', 'create table waits (a text)')
    expect(name).toBe('Wait')
    const slow = await wrote({ name: 'Slow', up: "update waits set a = 'x'; alter table waits add b text" })
    const [space] = await service.sql<{ schema: string }[]>`
      select schema_name as schema from spaces where workspace_id = ${workspaceId} and environment = 'production'`
    let answer: Promise<{ status: number }> | undefined
    await service.sql.begin(async (tx) => {
      await tx.unsafe(`lock table ${space?.schema}.waits in share mode`)
      answer = api.post(`/migrations/${slow.id}/apply`, {})
      await waitFor(async () => {
        const [row] = await service.sql<{ n: number }[]>`select count(*)::int as n from migration_runs`
        return row?.n === 1
      })
      const other = await api.post(`/migrations/${slow.id}/apply`, {})
      expect(other.error()).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('Another migration'),
      })
      expect((await deleted(slow)).error().code).toBe('conflict')
    })
    expect((await answer)?.status).toBe(200)
    expect((await api.post('/tables', { slug: 'afterwards', columns: [] })).status).toBe(201)
  })

  it('has a dry run without effects, which reports its locks and changes', async () => {
    await migrated(
      'Parts',
      "create table parts (name text); insert into parts (name) select 'p' || n from generate_series(1, 7) n",
    )
    const draft = await wrote({
      name: 'Try',
      up: 'alter table parts add seats integer; update parts set seats = 1; create table extras (a text); drop table one',
    })
    const events = await eventsOf(async () => {
      const { statements, tables } = (await api.post(`/migrations/${draft.id}/dry-run`, {})).data(DryRun)
      expect(tables).toEqual({ created: ['extras'], updated: ['parts'], deleted: ['one'] })
      expect(statements.map(({ rows: changed }) => changed)).toEqual([null, 7, null, null])
      expect(statements[0]?.locks).toContainEqual({ name: 'parts', mode: 'AccessExclusiveLock' })
      expect(statements[1]?.locks).toContainEqual({ name: 'parts', mode: 'RowExclusiveLock' })
      expect(statements[3]?.locks).toContainEqual({ name: 'one', mode: 'AccessExclusiveLock' })
    })
    expect(events).toEqual([])
    expect(await rows('select * from parts limit 1')).toEqual([expect.not.objectContaining({ seats: null })])
    expect(await applied(draft)).toMatchObject({ status: 'applied' })
  })

  it('builds indexes concurrently if it is not transactional', async () => {
    const up = 'create index concurrently parts_name on parts (name)'
    expect((await api.post('/migrations', { name: 'Index', up })).status).toBe(422)
    const draft = await wrote({
      name: 'Index',
      up,
      transactional: false,
      down: 'drop index concurrently parts_name',
    })
    expect((await api.post(`/migrations/${draft.id}/dry-run`, {})).status).toBe(409)
    await applied(draft)
    expect((await definition('parts'))?.indexes).toMatchObject([{ name: 'parts_name' }])
    await rolledBack(draft)
    expect((await definition('parts'))?.indexes).toEqual([])
    expect((await deleted(draft)).status).toBe(204)
  })

  it('is promoted to another environment once', async () => {
    const to = service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    const promote = async (body: object) =>
      (await to.post('/migrations/promote', body)).data(Promotion).migrations
    const names = (list: { name: string }[]) => list.map(({ name }) => name)
    const wanted = names((await api.get('/migrations?status=applied')).page(Migration).items)
    expect(names(await promote({ from: 'production', dryRun: true }))).toEqual(wanted)
    expect(await definition('persons', 'staging')).toBeUndefined()
    const taken = await promote({ from: 'production' })
    expect(names(taken)).toEqual(wanted)
    expect(taken.every(({ status }) => status === 'applied')).toBe(true)
    expect(await promote({ from: 'production' })).toEqual([])
    const { id: _, createdAt: __, updatedAt: ___, ...here } = (await definition('persons')) ?? {}
    expect(await definition('persons', 'staging')).toMatchObject(here)
    expect(await rows('select name from persons order by name', to)).toEqual([
      { name: 'Ada' },
      { name: 'Bob' },
    ])
    expect((await to.get('/migrations')).page(Migration).items[0]).toMatchObject({ origin: 'promotion' })
    expect((await api.post('/migrations/promote', { from: 'production' })).status).toBe(409)
  })

  it('reports as drift the changes that neither a migration nor a definition explains', async () => {
    const { sql } = service
    const [space] = await sql<{ schema: string }[]>`
      select schema_name as schema from spaces where workspace_id = ${workspaceId} and environment = 'staging'`
    const to = service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    expect(await drift(to)).toMatchObject({ inSync: true })
    await sql.unsafe(`set search_path = ${space?.schema}; create table stranger (a text); alter table persons add odd text;
      drop table parts; alter table waits disable trigger opsplane_insert; set search_path = database_studio`)
    const { inSync, differences } = await drift(to)
    expect(inSync).toBe(false)
    expect(differences).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ table: 'stranger', kind: 'unmanaged' }),
        expect.objectContaining({
          table: 'persons',
          kind: 'changed',
          message: expect.stringContaining('odd'),
        }),
        expect.objectContaining({ table: 'parts', kind: 'missing' }),
        expect.objectContaining({ kind: 'capture_off', message: expect.stringContaining('waits') }),
      ]),
    )
  })

  it('is settled by due work if its service stopped in the middle', async () => {
    const draft = await wrote({ name: 'Orphan', up: 'create table orphan (a text)' })
    await service.sql`
      insert into migration_runs (space_id, workspace_id, environment, migration_id, direction, token_hash, acting, due_at)
      select id, workspace_id, environment, ${draft.id}, 'up', 'none', ${service.sql.json({ actor: principal.actor, requestId: null })}, now()
      from spaces where workspace_id = ${workspaceId} and environment = 'production'`
    await waitFor(async () => (await api.get(`/migrations/${draft.id}`)).data(Migration).status === 'failed')
    expect((await api.get(`/migrations/${draft.id}`)).data(Migration).error).toContain('interrupted')
    // The same, but the transaction was committed before its service ended.
    await service.sql`
      insert into migration_runs (space_id, workspace_id, environment, migration_id, direction, token_hash, acting, done_at, due_at)
      select id, workspace_id, environment, ${draft.id}, 'up', 'none', ${service.sql.json({ actor: principal.actor, requestId: null })}, now(), now()
      from spaces where workspace_id = ${workspaceId} and environment = 'production'`
    await waitFor(async () => (await api.get(`/migrations/${draft.id}`)).data(Migration).status === 'applied')
  })

  it('requires its own permissions, and is not visible in other workspaces', async () => {
    const reader = service.as(testPrincipal({ workspaceId, permissions: ['migrations:read'] }))
    const [first] = (await reader.get('/migrations')).page(Migration).items
    expect((await reader.post('/migrations', { name: 'x', up: 'drop table one' })).error().code).toBe(
      'insufficient_scope',
    )
    expect((await reader.post(`/migrations/${first?.id}/apply`, {})).error().code).toBe('insufficient_scope')
    const elsewhere = service.as(testPrincipal())
    expect((await elsewhere.get(`/migrations/${first?.id}`)).status).toBe(404)
    expect((await elsewhere.post(`/migrations/${first?.id}/apply`, {})).status).toBe(404)
    expect((await elsewhere.get('/migrations')).page(Migration).items).toEqual([])
  })

  it('has the same state after a rebuild from its events', async () => {
    const all = () => service.sql`select * from migrations order by id`
    const before = await all()
    await service.rebuild()
    expect(await all()).toEqual(before)
  })
})
