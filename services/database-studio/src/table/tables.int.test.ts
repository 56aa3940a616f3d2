import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { KnownNames, Table } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { databaseStudio } from '../service.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

let service: TestService
let api: ApiClient
const principal = testPrincipal()
beforeAll(async () => {
  service = await startTestService(databaseStudio, { env: unreachableServices })
  api = service.as(principal)
})
afterAll(() => service?.stop())

const everyType = [
  { name: 'serial', type: 'text', nullable: false, unique: true, maxLength: 40 },
  { name: 'quantity', type: 'integer', default: 1 },
  { name: 'counter', type: 'bigint' },
  { name: 'price', type: 'decimal', precision: 12, scale: 2 },
  { name: 'active', type: 'boolean', default: true },
  { name: 'bought_on', type: 'date' },
  { name: 'seen_at', type: 'timestamp', default: { expression: 'now()' } },
  { name: 'extra', type: 'json', default: { json: { a: 1 } } },
  { name: 'token', type: 'uuid' },
  { name: 'status', type: 'enum', values: ['new', "it's old"], default: 'new' },
  { name: 'site', type: 'reference', table: 'sites', onDelete: 'set_null' },
  { name: 'label', type: 'computed', expression: "upper(serial) || '!'", resultType: 'text' },
]

const make = async (slug: string, columns: unknown[] = [{ name: 'name', type: 'text' }], rest: object = {}) =>
  (await api.post('/tables', { slug, columns, ...rest })).data(Table)

/** Name of the schema of the workspace, read as the superuser. */
async function schema(): Promise<string> {
  const [row] = await service.sql<{ name: string }[]>`
    select schema_name as name from spaces where workspace_id = ${principal.workspaceId ?? ''} and environment = 'production'`
  return row?.name ?? ''
}
const insert = async (slug: string, rows: Record<string, unknown>[]) => {
  const name = await schema()
  for (const row of rows) await service.sql`insert into ${service.sql(`${name}.${slug}`)} ${service.sql(row)}`
}

describe('a table', () => {
  it('is created with columns of every type, listed and read', async () => {
    await make('sites')
    const assets = await make('assets', everyType, {
      indexes: [
        { columns: [{ name: 'status' }, { name: 'price', direction: 'desc' }] },
        { name: 'serial_parts', kind: 'trigram', columns: [{ name: 'serial' }] },
        { kind: 'fulltext', columns: [{ name: 'serial' }], name: 'serial_words' },
      ],
      checks: [{ name: 'price_positive', expression: 'price > 0' }],
    })
    expect(assets).toMatchObject({ slug: 'assets', name: 'assets', version: 1, purgeAt: null })
    expect(assets.indexes.map(({ name }) => name)).toEqual([
      'assets_status_price_idx',
      'serial_parts',
      'serial_words',
    ])
    const { items } = (await api.get('/tables')).page(Table)
    expect(items.map(({ slug }) => slug)).toEqual(['assets', 'sites'])
    expect((await api.get('/tables/assets')).data(Table)).toEqual(assets)
    await insert('assets', [{ serial: 'a1', price: '12.5' }])
    const [row] = await service.sql.unsafe(`select * from ${await schema()}.assets`)
    expect(row).toMatchObject({
      ...{ id: expect.stringMatching(/^rec_[0-9A-HJKMNP-TV-Z]{26}$/), version: 1, serial: 'a1', quantity: 1 },
      ...{ active: true, extra: { a: 1 }, status: 'new', label: 'A1!', price: '12.50' },
    })
  })

  it('is not created by an invalid definition, twice, or by users with read access only', async () => {
    const wrong = [
      [{ name: 'id', type: 'text' }],
      [
        { name: 'a', type: 'text' },
        { name: 'a', type: 'date' },
      ],
      [{ name: 'a', type: 'reference', table: 'nowhere' }],
      [{ name: 'a', type: 'computed', expression: 'pg_sleep(1)', resultType: 'text' }],
      [{ name: 'a', type: 'text', default: { expression: "set_config('role', 'x', true)" } }],
      [{ name: 'a', type: 'integer', default: 'many' }],
      [{ name: 'a', type: 'decimal', precision: 2, scale: 3 }],
    ]
    for (const columns of wrong)
      expect([columns, (await api.post('/tables', { slug: 'wrong', columns })).status]).toEqual([
        columns,
        422,
      ])
    const checks = [{ name: 'c', expression: '1) or exists (select 1 from pg_class' }]
    expect((await api.post('/tables', { slug: 'wrong', columns: [], checks })).status).toBe(422)
    await make('taken')
    expect((await api.post('/tables', { slug: 'taken', columns: [] })).error().code).toBe('conflict')
    const reader = service.as(testPrincipal({ permissions: ['tables:read'] }))
    expect((await reader.post('/tables', { slug: 'mine', columns: [] })).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('can have a long slug and long column names, but not two constraints of the same name', async () => {
    const slug = 'l'.repeat(59)
    const reference = (name: string) => ({ name, type: 'reference', table: slug, unique: true })
    await make(slug, [reference('primary_owner'), reference('primary_backup')])
    const change = {
      columns: { add: [reference('primary_spare')], rename: [{ name: 'primary_owner', to: 'owner' }] },
    }
    expect((await api.patch(`/tables/${slug}`, change)).data(Table).columns).toHaveLength(3)
    const named = { slug: 'l', columns: [{ name: 'a', type: 'text', unique: true }] }
    const checks = [{ name: 'l_a_key', expression: "a <> ''" }]
    expect((await api.post('/tables', { ...named, checks })).error().details).toMatchObject([
      { path: '/checks/0', code: 'duplicate' },
    ])
  })

  it('is created once for an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'make-once' }
    const body = { slug: 'once', columns: [] }
    const made = (await api.post('/tables', body, key)).data(Table)
    const again = await api.post('/tables', body, key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.data(Table)).toEqual(made)
  })

  it('is accessible only in its workspace and environment', async () => {
    await make('ours')
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      const others = service.as(other)
      expect((await others.get('/tables/ours')).status).toBe(404)
      expect((await others.get('/tables')).page(Table).items).toEqual([])
      expect((await others.send('DELETE', '/tables/ours')).status).toBe(404)
      expect((await others.patch('/tables/ours', { name: 'theirs' })).status).toBe(404)
      expect((await others.post('/tables', { slug: 'ours', columns: [] })).status).toBe(201)
      await others.send('DELETE', '/tables/ours')
    }
    expect((await api.get('/tables/ours')).status).toBe(200)
  })
})

describe('a change', () => {
  it('adds, renames, retypes and drops columns, and keeps their values', async () => {
    await make(
      'parts',
      [
        { name: 'code', type: 'text', unique: true },
        { name: 'amount', type: 'text', default: '0' },
        { name: 'gone', type: 'text' },
      ],
      { indexes: [{ name: 'by_amount', columns: [{ name: 'amount' }] }] },
    )
    await insert('parts', [
      { code: 'a', amount: '12' },
      { code: 'b', amount: '7' },
    ])
    const columns = {
      add: [{ name: 'colour', type: 'enum', values: ['red'], default: 'red', nullable: false }],
      change: [
        { name: 'amount', to: { name: 'total', type: 'integer', default: 0, nullable: false } },
        { name: 'code', to: { name: 'number', type: 'text', unique: true, maxLength: 10 } },
      ],
      drop: ['gone'],
    }
    const body = { slug: 'pieces', columns, indexes: { add: [{ columns: [{ name: 'colour' }] }] } }
    const changed = (await api.patch('/tables/parts', body)).data(Table)
    expect(changed).toMatchObject({ slug: 'pieces', name: 'pieces', version: 2 })
    expect(changed.columns.map(({ name, type }) => [name, type])).toEqual([
      ['number', 'text'],
      ['total', 'integer'],
      ['colour', 'enum'],
    ])
    expect(changed.indexes[0]).toMatchObject({ name: 'by_amount', columns: [{ name: 'total' }] })
    const rows = await service.sql.unsafe(
      `select number, total, colour from ${await schema()}.pieces order by 1`,
    )
    expect([...rows]).toEqual([
      { number: 'a', total: 12, colour: 'red' },
      { number: 'b', total: 7, colour: 'red' },
    ])
    expect((await api.get('/tables/parts')).status).toBe(404)
    // The previous name is free again, including the names of its constraints in Postgres.
    await make('parts', [{ name: 'code', type: 'text', unique: true }])
    const enumless = { columns: { change: [{ name: 'colour', to: { name: 'colour', type: 'text' } }] } }
    expect((await api.patch('/tables/pieces', enumless)).data(Table).version).toBe(3)
    await insert('pieces', [{ number: 'c', colour: 'any' }])
  })

  it('reports the number of conflicting records with examples, and changes nothing', async () => {
    await make('readings', [
      { name: 'value', type: 'text' },
      { name: 'note', type: 'text' },
    ])
    await insert('readings', [{ value: '1', note: 'x' }, { value: 'many', note: 'x' }, { value: '1' }])
    const to = (column: object) => ({
      columns: { change: [{ name: 'value', to: { name: 'value', ...column } }] },
    })
    const stands = async (body: object) => {
      const { code, details } = (await api.patch('/tables/readings', body)).error()
      return [code, details?.[0]?.code, details?.[0]?.params]
    }
    const example = (value: string | null) => ({ id: expect.any(String), value })
    expect(await stands(to({ type: 'integer' }))).toEqual([
      'conflict',
      'rows_in_the_way',
      { rows: 1, examples: [example('many')] },
    ])
    expect(await stands(to({ type: 'text', unique: true }))).toEqual([
      'conflict',
      'rows_in_the_way',
      { rows: 2, examples: [example('1'), example('1')] },
    ])
    expect((await stands(to({ type: 'enum', values: ['1'] })))[2]).toEqual({
      rows: 1,
      examples: [example('many')],
    })
    const notNull = {
      columns: { change: [{ name: 'note', to: { name: 'note', type: 'text', nullable: false } }] },
    }
    expect((await stands(notNull))[2]).toEqual({ rows: 1, examples: [example(null)] })
    expect(
      (await stands({ columns: { add: [{ name: 'more', type: 'text', nullable: false }] } }))[2],
    ).toMatchObject({
      rows: 3,
    })
    const checks = { add: [{ name: 'short', expression: 'char_length(value) < 3' }] }
    expect((await stands({ checks }))[2]).toMatchObject({ rows: 1 })
    expect((await stands({ columns: { drop: ['note'] } })).slice(0, 2)).toEqual(['conflict', 'loses_values'])
    expect((await api.get('/tables/readings')).data(Table).version).toBe(1)
    const forced = (await api.patch('/tables/readings', { columns: { drop: ['note'] }, force: true })).data(
      Table,
    )
    expect(forced.columns.map(({ name }) => name)).toEqual(['value'])
  })

  it('validates the records against the new definition of their columns', async () => {
    await make('stocks', [{ name: 'amount', type: 'text' }])
    await insert('stocks', [{ amount: '5' }, { amount: '7' }])
    const size = { name: 'size', type: 'integer', default: 3 }
    const change = (columns: object, parts: object) => api.patch('/tables/stocks', { columns, ...parts })
    const checked = (expression: string) => ({ checks: { add: [{ name: 'checked', expression }] } })
    const amount = [{ name: 'amount', to: { name: 'total', type: 'integer' } }]
    const refused = [
      await change({ add: [size] }, checked('size > 3')),
      await change({ add: [size] }, { uniques: { add: [{ columns: ['size'] }] } }),
      await change({ change: amount }, checked('total > 7')),
    ]
    for (const reply of refused)
      expect(reply.error().details).toMatchObject([{ code: 'rows_in_the_way', params: { rows: 2 } }])
    expect((await api.get('/tables/stocks')).data(Table).version).toBe(1)
    const both = { add: [size, { name: 'note', type: 'text' }], change: amount }
    expect((await change(both, checked("size < total and note <> ''"))).data(Table).version).toBe(2)
    const rows = await service.sql.unsafe(`select size, total from ${await schema()}.stocks order by 2`)
    expect([...rows]).toEqual([
      { size: 3, total: 5 },
      { size: 3, total: 7 },
    ])
  })

  it('adds and drops columns together with the columns computed from them', async () => {
    const doubled = (of: string) => ({
      ...{ name: 'doubled', type: 'computed', expression: `${of} * 2`, resultType: 'integer' },
    })
    const integer = (name: string) => ({ name, type: 'integer' })
    await make('doubles', [])
    const left = async (columns: object) =>
      (await api.patch('/tables/doubles', { columns })).data(Table).columns.map(({ name }) => name)
    expect(await left({ add: [doubled('a'), integer('a')] })).toEqual(['doubled', 'a'])
    const change = [{ name: 'doubled', to: doubled('b') }]
    expect(await left({ add: [integer('b')], change })).toEqual(['doubled', 'a', 'b'])
    expect(await left({ drop: ['a', 'b', 'doubled'] })).toEqual([])
  })

  it('loses no digits unless `force` is set', async () => {
    await make('sums', [{ name: 'sum', type: 'decimal', precision: 10, scale: 3 }])
    await insert('sums', [{ sum: '1.125' }, { sum: '1.500' }])
    const body = {
      columns: { change: [{ name: 'sum', to: { name: 'sum', type: 'decimal', precision: 10, scale: 1 } }] },
    }
    expect((await api.patch('/tables/sums', body)).error().details?.[0]).toMatchObject({
      code: 'loses_values',
    })
    expect((await api.patch('/tables/sums', { ...body, force: true })).status).toBe(200)
    const rows = await service.sql.unsafe(`select sum from ${await schema()}.sums order by 1`)
    expect([...rows]).toEqual([{ sum: '1.1' }, { sum: '1.5' }])
  })

  it('is checked against If-Match, and concurrent changes are all applied', async () => {
    await make('shared')
    const stale = await api.patch('/tables/shared', { name: 'Shared' }, { 'if-match': '"7"' })
    expect(stale.status).toBe(412)
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        api.patch('/tables/shared', { columns: { add: [{ name, type: 'text' }] } }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { columns, version } = (await api.get('/tables/shared')).data(Table)
    expect([columns.map(({ name }) => name).sort(), version]).toEqual([['a', 'b', 'c', 'd', 'name'], 5])
  })

  it('of the slug updates the definitions that refer to the table', async () => {
    await make('owners', [{ name: 'boss', type: 'reference', table: 'owners' }])
    await make('cars', [{ name: 'owner', type: 'reference', table: 'owners', onDelete: 'cascade' }])
    expect((await api.patch('/tables/owners', { slug: 'people' })).data(Table).version).toBe(2)
    expect((await api.get('/tables/people')).data(Table).columns[0]).toMatchObject({ table: 'people' })
    expect((await api.get('/tables/cars')).data(Table).columns[0]).toMatchObject({ table: 'people' })
    expect((await api.post('/tables/cars/records', {})).status).toBe(201)
    const refused = (await api.send('DELETE', '/tables/people')).error()
    expect(refused).toMatchObject({ code: 'conflict', details: [{ params: { tables: ['cars'] } }] })
  })
})

describe('a dropped table', () => {
  it('is restored with its records, even if another table has used its name meanwhile', async () => {
    const columns = [
      { name: 'code', type: 'text', unique: true },
      { name: 'site', type: 'reference', table: 'sites' },
    ]
    const first = await make('tools', columns)
    await insert('tools', [{ code: 'first' }])
    expect((await api.send('DELETE', '/tables/tools')).status).toBe(204)
    expect((await api.get('/tables/tools')).status).toBe(404)
    await make('tools', columns)
    expect((await api.post(`/tables/${first.id}/restore`)).error().code).toBe('conflict')
    await api.send('DELETE', '/tables/tools')
    const trash = (await api.get('/tables?trash=true'))
      .page(Table)
      .items.filter(({ slug }) => slug === 'tools')
    expect(trash).toHaveLength(2)
    const restored = (await api.post(`/tables/${first.id}/restore`)).data(Table)
    expect(restored).toMatchObject({ id: first.id, version: 3, purgeAt: null })
    const rows = await service.sql.unsafe(`select code from ${await schema()}.tools`)
    expect([...rows]).toEqual([{ code: 'first' }])
    await expect(insert('tools', [{ code: 'first' }])).rejects.toMatchObject({
      constraint_name: 'tools_code_key',
    })
    await expect(
      insert('tools', [{ code: 'x', site: 'rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }]),
    ).rejects.toMatchObject({
      code: '23503',
    })
  })
})

describe('the trash', () => {
  it('purges a table when its time is up', async () => {
    const old = await make('old', [{ name: 'code', type: 'text', unique: true }])
    await api.send('DELETE', '/tables/old')
    const gone = async () => (await service.sql`select from tables where id = ${old.id}`).length === 0
    await service.sql`update table_purges set due_at = now() where table_id = ${old.id}`
    await waitFor(gone)
    const events = await service.sql`select type from events where stream_id = ${old.id} order by version`
    expect(events.map(({ type }) => type)).toEqual(['table.created', 'table.deleted', 'table.purged'])
    const left = await service.sql`
      select relname as name from pg_class where relname = ${old.id.toLowerCase()}
      union all select proname from pg_proc where proname like ${`t_${old.id.slice(4).toLowerCase()}%`}
      union all select table_id from trashed_names where table_id = ${old.id}
      union all select table_id from captured_tables where table_id = ${old.id}`
    expect([...left]).toEqual([])
    expect((await api.post(`/tables/${old.id}/restore`)).status).toBe(404)
  })
})

it('a table can be looked up by slug by workflows until it is in the trash', async () => {
  await make('known')
  const known = async () => {
    const question = {
      ...{ workspaceId: principal.workspaceId, environment: 'production' },
      names: ['known', 'absent'],
    }
    const answer = await service.asService('workflows').post('/internal/tables/names', question)
    return answer.data(KnownNames).names
  }
  expect(await known()).toEqual(['known'])
  await api.send('DELETE', '/tables/known')
  expect(await known()).toEqual([])
})

it('tables have the same state after a rebuild from their events', async () => {
  const rows = () => service.sql`select * from tables order by id`
  const before = await rows()
  expect(before.length).toBeGreaterThan(5)
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
