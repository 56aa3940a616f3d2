import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Migration, newId, Promotion, SavedQuery, StudioRecord } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let fixture: MigrationsFixture
let {
  workspaceId,
  principal,
  scope,
  service,
  api,
  wrote,
  applied,
  rolledBack,
  deleted,
  migrated,
  rows,
  drift,
  definition,
} = {} as MigrationsFixture

beforeAll(async () => {
  fixture = await startMigrations()
  ;({
    workspaceId,
    principal,
    scope,
    service,
    api,
    wrote,
    applied,
    rolledBack,
    deleted,
    migrated,
    rows,
    drift,
    definition,
  } = fixture)
})
afterAll(() => fixture?.stop())

describe('a change of a definition', () => {
  it('is recorded as a migration, which is promoted with names, descriptions and rules', async () => {
    const to = service.as(testPrincipal({ workspaceId, environment: 'development' }))
    await migrated('People', 'create table persons (name text not null)')
    const columns = [
      { name: 'title', type: 'text', nullable: false, maxLength: 40 },
      { name: 'kind', type: 'enum', values: ['a', 'b'], default: 'a', description: 'Of what kind' },
      { name: 'person', type: 'reference', table: 'persons', onDelete: 'set_null' },
    ]
    const made = await api.post('/tables', {
      slug: 'things',
      name: 'All things',
      columns,
      indexes: [{ columns: [{ name: 'title' }] }],
    })
    expect(made.status).toBe(201)
    await api.patch('/tables/things', {
      columns: { add: [{ name: 'price', type: 'decimal', precision: 8, scale: 2 }] },
    })
    const recorded = (await api.get('/migrations?status=applied&sort=-number')).page(Migration).items
    expect(recorded.slice(0, 2)).toMatchObject([
      {
        name: 'Change things',
        origin: 'table',
        status: 'applied',
        down: 'alter table "things" drop column "price";',
      },
      {
        name: 'Create things',
        origin: 'table',
        status: 'applied',
        up: expect.stringMatching(/^create table "things" \(/),
        down: 'drop table "things";',
      },
    ])
    expect(await drift()).toMatchObject({ inSync: true })
    expect((await to.post('/migrations/promote', { from: 'production' })).status).toBe(200)
    const { id: _, createdAt: __, updatedAt: ___, ...here } = (await definition('things')) ?? {}
    expect(await definition('things', 'development')).toMatchObject(here)
    expect(here).toMatchObject({
      name: 'All things',
      columns: [{}, { type: 'enum', values: ['a', 'b'] }, { type: 'reference' }, { name: 'price' }],
    })
    expect(await drift(to)).toMatchObject({ inSync: true })
    expect((await to.post('/tables/things/records', { title: 'One', kind: 'b', price: '1.5' })).status).toBe(
      201,
    )
    expect((await to.post('/tables/things/records', { title: 'One', kind: 'c' })).status).toBe(422)

    const words = {
      name: 'Things of all kinds',
      description: 'Of everyone',
      rules: [{ role: 'viewer', read: { kind: 'a' } }],
    }
    expect((await api.patch('/tables/things', words)).status).toBe(200)
    expect((await api.patch('/tables/things', words)).status).toBe(200)
    const taken = await to.post('/migrations/promote', { from: 'production' })
    expect(taken.data(Promotion).migrations).toMatchObject([{ name: 'Change things', status: 'applied' }])
    expect(await definition('things', 'development')).toMatchObject(words)
    expect((await to.post('/tables/things/records', { title: 'Two', kind: 'a' })).status).toBe(201)
    expect((await to.post('/migrations/promote', { from: 'production' })).data(Promotion).migrations).toEqual(
      [],
    )

    expect((await api.send('DELETE', '/tables/things')).status).toBe(204)
    expect((await to.post('/migrations/promote', { from: 'production' })).status).toBe(200)
    expect(await definition('things', 'development')).toBeUndefined()
  })

  it('is rolled back as a migration, including names and columns', async () => {
    const made = await api.post('/tables', {
      slug: 'crates',
      columns: [
        { name: 'label', type: 'text', unique: true },
        { name: 'weight', type: 'integer', default: 1 },
        { name: 'old', type: 'text' },
      ],
      indexes: [{ columns: [{ name: 'weight' }] }],
    })
    expect(made.status).toBe(201)
    await api.post('/tables/crates/records', { label: 'One', weight: 7, old: 'gone' })
    const before = await definition('crates')
    const patch = {
      slug: 'boxes',
      name: 'Boxes',
      columns: {
        add: [{ name: 'kind', type: 'enum', values: ['a', 'b'], default: 'a' }],
        change: [{ name: 'weight', to: { name: 'kilos', type: 'bigint', nullable: false } }],
        drop: ['old'],
      },
      checks: { add: [{ name: 'not_heavy', expression: 'kilos < 100' }] },
      force: true,
    }
    expect((await api.patch('/tables/crates', patch)).status).toBe(200)
    const [change] = (await api.get('/migrations?status=applied&sort=-number&limit=1')).page(Migration).items
    await rolledBack(change as Migration)
    const { updatedAt: _, ...was } = before ?? {}
    expect(await definition('crates')).toMatchObject(was)
    expect(await drift()).toMatchObject({ inSync: true })
    expect(await rows('select label, weight, old from crates')).toEqual([
      { label: 'One', weight: 7, old: null },
    ])
    expect(await applied(change as Migration)).toMatchObject({ status: 'applied' })
    expect(await definition('boxes')).toMatchObject({
      name: 'Boxes',
      columns: [{}, { name: 'kilos' }, { name: 'kind' }],
    })
    for (const _ of ['change', 'create']) {
      const [last] = (await api.get('/migrations?status=applied&sort=-number&limit=1')).page(Migration).items
      await rolledBack(last as Migration)
      expect((await deleted(last as Migration)).status).toBe(204)
    }
    expect(await definition('crates')).toBeUndefined()
  })

  it('that swaps the names of columns is promoted and rolled back', async () => {
    const [first, second] = [
      { type: 'text', unique: true },
      { type: 'enum', values: ['a', 'b'] },
    ]
    const columns = (one: string, two: string) => [
      { name: one, ...first },
      { name: two, ...second },
    ]
    const checks = [{ name: 'not_empty', expression: "one <> ''" }]
    await api.post('/tables', { slug: 'swaps', columns: columns('one', 'two'), checks })
    await api.post('/tables/swaps/records', { one: 'a', two: 'b' })
    const before = await definition('swaps')
    const change = columns('two', 'one').map((to, at) => ({ name: at === 0 ? 'one' : 'two', to }))
    expect((await api.patch('/tables/swaps', { columns: { change } })).status).toBe(200)
    expect(await rows('select one, two from swaps')).toEqual([{ one: 'b', two: 'a' }])
    expect(await drift()).toMatchObject({ inSync: true })
    const to = service.as(testPrincipal({ workspaceId, environment: 'development' }))
    expect((await to.post('/migrations/promote', { from: 'production' })).status).toBe(200)
    expect(await definition('swaps', 'development')).toMatchObject({ columns: columns('two', 'one') })
    expect((await to.post('/tables/swaps/records', { one: 'a', two: 'any' })).status).toBe(201)
    const [swap] = (await api.get('/migrations?status=applied&sort=-number&limit=1')).page(Migration).items
    await rolledBack(swap as Migration)
    await deleted(swap as Migration)
    const { updatedAt: _, ...was } = before ?? {}
    expect(await definition('swaps')).toMatchObject(was)
    expect(await rows('select one, two from swaps')).toEqual([{ one: 'a', two: 'b' }])
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it('is possible for a table whose constraints a migration has renamed or left unnamed', async () => {
    await migrated(
      'Made',
      `create type colour as enum ('red', 'blue');
       create table makers (name text constraint one_name unique);
       create table wheels (id text constraint one_id primary key, colour colour, size integer,
         maker text constraint one_maker references makers (id), seller text references makers (id));
       insert into wheels (colour, maker) select 'red', id from makers;`,
    )
    await migrated('Renamed', 'alter table makers rename to factories')
    const change = (name: string, to: object) => ({ columns: { change: [{ name, to }] } })
    const changes = [
      ['factories', change('name', { name: 'label', type: 'text', unique: true })],
      ['factories', { slug: 'firms' }],
      ['wheels', change('maker', { name: 'firm', type: 'reference', table: 'firms' })],
      ['wheels', { columns: { drop: ['seller'] } }],
      ['wheels', { slug: 'tyres' }],
      ['tyres', change('colour', { name: 'colour', type: 'text' })],
    ] as const
    for (const [slug, patch] of changes)
      expect([patch, (await api.patch(`/tables/${slug}`, patch)).status]).toEqual([patch, 200])
    const names = await service.sql<{ name: string }[]>`
      select conname as name from pg_constraint where conrelid in (
        select relation from captured_tables where slug in ('firms', 'tyres')) and contype <> 'n' order by conname`
    expect(names.map(({ name }) => name)).toEqual([
      ...['firms_id_form', 'firms_label_key', 'firms_pkey'],
      ...['tyres_firm_fkey', 'tyres_id_form', 'tyres_pkey'],
    ])
    expect(await drift()).toMatchObject({ inSync: true })
    const to = service.as(testPrincipal({ workspaceId, environment: 'development' }))
    expect((await to.post('/migrations/promote', { from: 'production' })).status).toBe(200)
    expect(await definition('tyres', 'development')).toMatchObject({
      columns: [{ name: 'colour', type: 'text' }, { name: 'size' }, { name: 'firm', table: 'firms' }],
    })
    for (const _ of changes) {
      const [last] = (await api.get('/migrations?status=applied&sort=-number&limit=1')).page(Migration).items
      await rolledBack(last as Migration)
      await deleted(last as Migration)
    }
    expect(await definition('wheels')).toMatchObject({
      columns: [
        { name: 'colour' },
        { name: 'size' },
        { name: 'maker', table: 'factories' },
        { name: 'seller' },
      ],
    })
  })

  it('that moves a table to the trash does not block deletion of the records it refers to', async () => {
    await migrated(
      'Roads',
      'create table towns (name text); create table roads (town text constraint leads_to references towns (id))',
    )
    const town = (await api.post('/tables/towns/records', {})).data(StudioRecord)
    await api.post('/tables/roads/records', { town: town.id })
    expect((await api.send('DELETE', '/tables/roads')).status).toBe(204)
    expect((await api.send('DELETE', `/tables/towns/records/${town.id}`)).status).toBe(204)
  })
})

describe('a migration', () => {
  it('with a result no definition can express is rejected, or applied without that part', async () => {
    await migrated('Parts', 'create table parts (code text)')
    for (const up of [
      'create table batch (a text)',
      'alter table parts rename to trash',
      'alter table parts rename to "Spare parts"',
    ]) {
      const draft = await wrote({ name: 'Refused', up })
      const refused = (await api.post(`/migrations/${draft.id}/apply`, {})).error()
      expect([up, refused.details[0]?.params?.sqlState]).toEqual([up, '42602'])
      await deleted(draft)
    }
    const columns = Array.from({ length: 17 }, (_, at) => `c${at}`)
    await migrated(
      'Large',
      `alter table parts add check (code <> '${'x'.repeat(2_000)}'), ${columns.map((name) => `add ${name} text`)};
       alter table parts add constraint all_of_it unique (${columns}); create index all_of_it_idx on parts (${columns});
       comment on table parts is '${'x'.repeat(1_999)}😀'; comment on column parts.code is '${'x'.repeat(499)}😀'`,
    )
    expect(await definition('parts')).toMatchObject({ checks: [], uniques: [], indexes: [] })
    expect((await api.post('/tables/parts/records', { code: 'a' })).status).toBe(201)
  })

  it("keeps a table writable if it does not change the table's columns", async () => {
    await api.post('/tables', { slug: 'shelves', columns: [{ name: 'label', type: 'text' }] })
    for (const up of [
      'create index shelves_label on shelves (label)',
      "comment on table shelves is 'Where crates stand'",
      'drop index shelves_label',
    ]) {
      await migrated('Shelves', up)
      expect([up, (await api.post('/tables/shelves/records', { label: 'A' })).status]).toEqual([up, 201])
    }
  })

  it('that was deleted does not prevent its run from being settled', async () => {
    const runs = () => service.sql`select 1 from migration_runs`
    const [space] = await service.sql<{ schema: string }[]>`
      select schema_name as schema from spaces where workspace_id = ${workspaceId} and environment = 'production'`
    await service.sql.unsafe(`alter table ${space?.schema}.shelves add depth integer`)
    const acting = service.sql.json({ actor: principal.actor, requestId: null })
    await service.sql`
      insert into migration_runs (space_id, workspace_id, environment, migration_id, direction, token_hash, acting, done_at, due_at)
      select id, workspace_id, environment, ${newId('migration')}, 'up', 'none', ${acting},
        case environment when 'production' then now() end, now()
      from spaces where workspace_id = ${workspaceId}`
    await waitFor(async () => (await runs()).length === 0)
    expect((await definition('shelves'))?.columns).toMatchObject([{ name: 'label' }, { name: 'depth' }])
  })
})

describe('a user under a row rule', () => {
  it('runs no SQL of their own', async () => {
    await api.post('/tables', {
      slug: 'notes',
      columns: [{ name: 'author', type: 'text' }],
      rules: [{ role: 'agent', read: { author: '$user.id' } }],
    })
    const ruled = service.as({ ...principal, role: 'agent' })
    const { id } = await wrote({
      name: 'Look',
      up: "create table copies (author text); insert into copies select '' from notes",
      down: 'drop table copies',
    })
    const sql = 'select author from notes'
    const saved = (await api.post('/queries', { name: 'Notes', sql })).data(SavedQuery)
    const refused = [
      ['/queries/run', { sql }],
      [`/queries/${saved.id}/run`, { explain: 'plan' }],
      [`/migrations/${id}/dry-run`, {}],
      [`/migrations/${id}/apply`, {}],
      [`/migrations/${id}/rollback`, {}],
      ['/migrations/promote', { from: 'development' }],
    ] as const
    for (const [path, body] of refused)
      expect([path, (await ruled.post(path, body)).error().code]).toEqual([path, 'forbidden'])
    expect(await applied({ id })).toMatchObject({ status: 'applied' })
    expect((await ruled.post(`/migrations/${id}/rollback`, {})).status).toBe(403)
    await rolledBack({ id })
    expect((await deleted({ id })).status).toBe(204)
  })
})

describe('a promotion', () => {
  it('is rejected for keys that are not valid in the source environment', async () => {
    scope.environments = ['staging']
    const to = service.as(testPrincipal({ workspaceId, environment: 'staging' }))
    const refused = (await to.post('/migrations/promote', { from: 'production', dryRun: true })).error()
    expect(refused).toMatchObject({ code: 'forbidden', details: [{ path: '/from' }] })
    scope.environments = null
  })
})
