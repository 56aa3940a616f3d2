import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { RecordChange, StudioRecord, Table } from '@opsplane/contracts'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
beforeAll(async () => {
  at = await startMigrations()
})
afterAll(() => at?.stop())

const text = (name: string) => ({ name, type: 'text' })
const integer = (name: string) => ({ name, type: 'integer' })
const make = async (slug: string, columns: unknown[], rest: object = {}) =>
  (await at.api.post('/tables', { slug, columns, ...rest })).data(Table)
const changed = async (slug: string, columns: object, rest: object = {}) =>
  (await at.api.patch(`/tables/${slug}`, { columns, ...rest })).data(Table)
const refusal = async (slug: string, body: object): Promise<[number, unknown]> => {
  const answer = await at.api.patch(`/tables/${slug}`, body)
  return [answer.status, answer.error().details?.[0]]
}
const named = (prefix: string, count: number, of: (name: string) => object) =>
  Array.from({ length: count }, (_, index) => of(`${prefix}${index}`))

describe('a change', () => {
  it('is rejected if it exceeds the limits that apply to a new table', async () => {
    await make('full', named('c', 195, integer))
    expect(await refusal('full', { columns: { add: named('d', 6, integer) } })).toMatchObject([
      422,
      { path: '/columns/add', code: 'too_big' },
    ])
    const rest = { columns: { add: named('d', 6, integer), drop: ['c0'] } }
    expect((await at.api.patch('/tables/full', rest)).data(Table).columns).toHaveLength(200)
    const check = (name: string) => ({ name, expression: 'c1 > 0' })
    const checks = { add: named('e', 50, check) }
    expect((await at.api.patch('/tables/full', { checks })).status).toBe(200)
    expect(await refusal('full', { checks: { add: [check('one_more')] } })).toMatchObject([
      422,
      { path: '/checks/add', code: 'too_big' },
    ])
  })

  it('must name each column only once', async () => {
    await make('twice', [text('a'), text('b')])
    const to = (name: string) => ({ name: 'a', to: text(name) })
    expect(await refusal('twice', { columns: { change: [to('c'), to('d')] } })).toMatchObject([
      422,
      { path: '/columns/change/1/name', code: 'duplicate' },
    ])
    expect(await refusal('twice', { columns: { change: [to('c')], drop: ['a'] } })).toMatchObject([
      422,
      { path: '/columns/change/0/name', code: 'duplicate' },
    ])
  })

  it('swaps the names of columns, with their values, constraints and references', async () => {
    const site =
      (await make('sites', [])) && (await at.api.post('/tables/sites/records', {})).data(StudioRecord)
    const left = [
      { name: 'a', type: 'text', unique: true },
      { name: 'kind', type: 'enum', values: ['x'] },
      { name: 'home', type: 'reference', table: 'sites' },
    ]
    const right = [
      { name: 'b', type: 'text', unique: true },
      { name: 'sort', type: 'enum', values: ['y'] },
      { name: 'work', type: 'reference', table: 'sites' },
    ]
    const both = {
      ...{ name: 'both', type: 'computed', expression: "a || '>' || b", resultType: 'text', unique: true },
    }
    await make('pairs', [...left, ...right, both], {
      indexes: [{ name: 'by_a', columns: [{ name: 'a' }, { name: 'both' }] }],
      uniques: [{ name: 'one_a', columns: ['a', 'kind'] }],
      checks: [{ name: 'short', expression: 'char_length(a) < 3' }],
    })
    const given = { a: '1', kind: 'x', home: site.id, b: '2', sort: 'y', work: null }
    const made = (await at.api.post('/tables/pairs/records', given)).data(StudioRecord)
    const change = left.flatMap((one, index) => {
      const other = right[index] ?? one
      return [
        { name: one.name, to: { ...one, name: other.name } },
        { name: other.name, to: { ...other, name: one.name } },
      ]
    })
    const after = await changed('pairs', { change })
    expect(after.columns.map(({ name }) => name)).toEqual(['b', 'sort', 'work', 'a', 'kind', 'home', 'both'])
    expect(after).toMatchObject({
      indexes: [{ name: 'by_a', columns: [{ name: 'b' }, { name: 'both' }] }],
      uniques: [{ name: 'one_a', columns: ['b', 'sort'] }],
    })
    const path = `/tables/pairs/records/${made.id}`
    const swapped = { a: '2', kind: 'y', home: null, b: '1', sort: 'x', work: site.id, both: '2>1' }
    expect((await at.api.get(path)).data(StudioRecord)).toMatchObject({ ...swapped, version: 1 })
    const long = { b: 'long' }
    expect((await at.api.patch(path, long)).data(StudioRecord)).toMatchObject({
      ...swapped,
      ...long,
      both: '2>long',
    })
    const [last] = (await at.api.get(`${path}/history`)).page(RecordChange).items
    expect(last).toMatchObject({
      before: swapped,
      after: long,
      changes: ['version', 'updatedAt', 'b', 'both'],
    })
    for (const [refused, status] of [
      [{ a: 'long' }, 422],
      [{ kind: 'x' }, 422],
      [{ work: made.id }, 422],
      [{ a: '2' }, 409],
    ] as const)
      expect([refused, (await at.api.post('/tables/pairs/records', refused)).status]).toEqual([
        refused,
        status,
      ])
    const names = await at.service.sql<{ name: string }[]>`
      select c.relname as name from captured_tables t join pg_index i on i.indrelid = t.relation
      join pg_class c on c.oid = i.indexrelid where t.table_id = ${after.id} order by 1`
    expect(names.map(({ name }) => name)).toEqual([
      ...['by_a', 'one_a', 'pairs_a_key', 'pairs_b_key', 'pairs_both_key', 'pairs_home_ref', 'pairs_pkey'],
      'pairs_work_ref',
    ])
  })

  it('reports the records that violate a check whose columns swap names', async () => {
    await make('spans', [integer('low'), integer('high')], {
      checks: [{ name: 'order', expression: 'low < high' }],
    })
    await at.api.post('/tables/spans/records', { low: 1, high: 2 })
    const change = [
      { name: 'low', to: integer('high') },
      { name: 'high', to: integer('low') },
    ]
    expect(await refusal('spans', { columns: { change } })).toMatchObject([
      409,
      { code: 'rows_in_the_way', params: { rows: 1 } },
    ])
  })

  it('renames several columns, each to the previous name of the next', async () => {
    await make('chain', [{ ...text('a'), unique: true }, { ...text('b'), unique: true }, text('c')])
    await at.api.post('/tables/chain/records', { a: '1', b: '2', c: '3' })
    const change = [
      { name: 'a', to: { ...text('b'), unique: true } },
      { name: 'b', to: { ...text('d'), unique: true } },
    ]
    const columns = { change, drop: ['c'], add: [{ ...text('a'), default: 'new' }] }
    expect((await changed('chain', columns, { force: true })).columns.map(({ name }) => name)).toEqual([
      ...['b', 'd', 'a'],
    ])
    const rows = async () => (await at.api.get('/tables/chain/records')).page(StudioRecord).items
    expect(await rows()).toMatchObject([{ b: '1', d: '2', a: 'new' }])
    // The name of a dropped column may be reused immediately, even if a multi-column index uses it.
    await changed('chain', {}, { uniques: { add: [{ name: 'both', columns: ['d', 'a'] }] } })
    const taken = { change: [{ name: 'b', to: { ...text('d'), unique: true } }], drop: ['d'] }
    expect((await changed('chain', taken, { force: true })).uniques).toMatchObject([{ columns: ['d', 'a'] }])
    expect(await rows()).toMatchObject([{ d: '1', a: 'new' }])
    expect((await at.api.post('/tables/chain/records', { d: '1' })).status).toBe(409)
    expect((await at.api.patch('/tables/chain', { uniques: { drop: ['both'] } })).status).toBe(200)
  })

  it('drops a column that a computed column no longer uses', async () => {
    const doubled = (of: string) => ({
      ...{ name: 'doubled', type: 'computed', expression: `${of} * 2`, resultType: 'integer', unique: true },
    })
    const indexes = [{ name: 'by_doubled', columns: [{ name: 'doubled', direction: 'desc' }] }]
    await make('halves', [integer('a'), integer('b'), doubled('a')], { indexes })
    await at.api.post('/tables/halves/records', { b: 4 })
    const change = [{ name: 'doubled', to: doubled('b') }]
    await changed('halves', { drop: ['a'], change })
    expect((await at.api.get('/tables/halves/records')).page(StudioRecord).items).toMatchObject([
      { doubled: 8 },
    ])
    expect((await at.api.post('/tables/halves/records', { b: 4 })).status).toBe(409)
    expect((await at.api.patch('/tables/halves', { indexes: { drop: ['by_doubled'] } })).status).toBe(200)
    // A type change is possible if the column computed from it is rebuilt.
    const retyped = [
      { name: 'b', to: { name: 'b', type: 'bigint' } },
      { name: 'doubled', to: { ...doubled('b'), resultType: 'bigint' } },
    ]
    await changed('halves', { change: retyped })
    expect((await at.api.get('/tables/halves/records')).page(StudioRecord).items).toMatchObject([
      { doubled: '8' },
    ])
  })
})

describe('a default', () => {
  const wrong = [
    { type: 'enum', values: ['red'], default: 'blue' },
    { type: 'decimal', precision: 4, scale: 2, default: '123.4' },
    { type: 'decimal', precision: 4, scale: 2, default: 1.234 },
    { type: 'text', maxLength: 3, default: 'long' },
    { type: 'integer', default: 'many' },
    { type: 'integer', default: 2_147_483_648 },
    { type: 'date', default: '2026-02-30' },
  ].map((column) => ({ name: 'colour', ...column }))

  it('must be valid for its column', async () => {
    await make('walls', [text('name'), text('colour')])
    for (const column of wrong) {
      const answers = [
        await at.api.post('/tables', { slug: 'wrong', columns: [text('name'), column] }),
        await at.api.patch('/tables/walls', {
          columns: { drop: ['colour'], add: [{ ...column, name: 'tone' }] },
        }),
        await at.api.patch('/tables/walls', { columns: { change: [{ name: 'colour', to: column }] } }),
      ]
      for (const [index, answer] of answers.entries()) {
        const name = index === 1 ? 'tone' : 'colour'
        expect([column, answer.status]).toEqual([column, 422])
        const place = ['/columns/1', '/columns/add/0', '/columns/change/0/to'][index]
        expect(answer.error().details).toMatchObject([
          { path: `${place}/default`, code: 'invalid_value', message: expect.stringContaining(name) },
        ])
      }
    }
    expect((await at.api.get('/tables/walls')).data(Table).version).toBe(1)
  })

  it('is rejected if a change narrows its column too far', async () => {
    const before = [
      { name: 'colour', type: 'enum', values: ['red', 'blue'], default: 'blue' },
      { name: 'price', type: 'decimal', precision: 6, scale: 2, default: '1.25' },
      { name: 'code', type: 'text', maxLength: 6, default: 'abcdef' },
    ]
    await make('doors', before)
    const narrower = [{ values: ['red'] }, { scale: 1 }, { maxLength: 5 }]
    for (const [index, less] of narrower.entries()) {
      const { name = '', ...column } = before[index] ?? {}
      const change = [{ name, to: { name, ...column, ...less } }]
      expect(await refusal('doors', { columns: { change } })).toMatchObject([
        422,
        { path: '/columns/change/0/to/default', message: expect.stringContaining(name) },
      ])
    }
    expect((await at.api.post('/tables/doors/records', {})).data(StudioRecord)).toMatchObject({
      ...{ colour: 'blue', price: '1.25', code: 'abcdef' },
    })
  })
})

describe('an error message', () => {
  it('names tables without their schema', async () => {
    const [space] = await at.service.sql<{ schema: string }[]>`
      select schema_name as schema from spaces where workspace_id = ${at.workspaceId} and environment = 'production'`
    const nowhere = { name: 'place', type: 'reference', table: 'nowhere' }
    await make('wanderers', [text('name')])
    for (const answer of [
      await at.api.post('/tables', { slug: 'lost', columns: [nowhere] }),
      await at.api.patch('/tables/wanderers', { columns: { add: [nowhere] } }),
      await at.api.patch('/tables/wanderers', { columns: { change: [{ name: 'name', to: nowhere }] } }),
    ]) {
      expect(answer.error().message).toBe('Relation "nowhere" does not exist.')
      expect(answer.text).not.toContain(space?.schema)
    }
  })
})
