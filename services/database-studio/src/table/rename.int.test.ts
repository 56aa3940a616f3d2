import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Migration, Promotion, StudioRecord, Table } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
beforeAll(async () => {
  at = await startMigrations()
})
afterAll(() => at?.stop())

const columns = [
  {
    name: 'code',
    type: 'text',
    nullable: false,
    unique: true,
    maxLength: 10,
    default: 'x',
    description: 'A code',
  },
  { name: 'seats', type: 'integer' },
  { name: 'kind', type: 'enum', values: ['a', 'b'] },
  { name: 'double', type: 'computed', expression: 'seats * 2', resultType: 'integer' },
]
const definition = {
  ...{
    slug: 'rooms',
    columns,
    uniques: [{ columns: ['code', 'seats'] }],
    indexes: [{ columns: [{ name: 'seats' }] }],
  },
  checks: [
    { name: 'positive', expression: "seats > 0 and lower('seats') <> code and coalesce(seats, 1) < 100" },
  ],
  rules: [{ role: 'agent', read: { or: [{ code: 'x' }, { seats: { gt: 1 } }] }, write: null }],
}

test('a column is renamed by `rename`, and keeps its properties and everything that refers to it', async () => {
  const before = (await at.api.post('/tables', definition)).data(Table)
  await at.api.post('/tables', {
    slug: 'desks',
    columns: [{ name: 'room', type: 'reference', table: 'rooms', key: { column: 'code', type: 'text' } }],
  })
  const made = (await at.api.post('/tables/rooms/records', { code: 'r1', seats: 4 })).data(StudioRecord)
  const rename = [
    { name: 'code', to: 'Number' },
    { name: 'seats', to: 'select' },
  ]
  const after = (await at.api.patch('/tables/rooms', { columns: { rename } })).data(Table)
  expect(after.columns).toEqual([
    { ...before.columns[0], name: 'Number' },
    { ...before.columns[1], name: 'select' },
    before.columns[2],
    { ...before.columns[3], expression: '"select" * 2' },
  ])
  expect(after.checks).toEqual([
    {
      name: 'positive',
      expression: `"select" > 0 and lower('seats') <> "Number" and coalesce("select", 1) < 100`,
    },
  ])
  expect(after.uniques).toMatchObject([{ columns: ['Number', 'select'] }])
  expect(after.indexes).toMatchObject([{ columns: [{ name: 'select' }] }])
  expect(after.rules).toMatchObject([{ read: { or: [{ Number: 'x' }, { select: { gt: 1 } }] } }])
  expect((await at.api.get(`/tables/rooms/records/${made.id}`)).data(StudioRecord)).toMatchObject({
    ...{ version: 1, Number: 'r1', select: 4, double: 8 },
  })
  for (const wrong of [{ select: 0 }, { Number: 'r1' }, { kind: 'c' }])
    expect((await at.api.post('/tables/rooms/records', { Number: 'r2', ...wrong })).status).toBeGreaterThan(
      400,
    )
  const desk = (await at.api.post('/tables/desks/records', { room: 'r1' })).data(StudioRecord)
  const shown = await at.api.get(`/tables/desks/records/${desk.id}?expand=room`)
  expect(shown.data(StudioRecord)).toMatchObject({ room: { Number: 'r1' } })
  expect((await at.api.get('/tables/desks')).data(Table).columns).toMatchObject([
    { key: { column: 'Number' } },
  ])
  expect(await at.drift()).toMatchObject({ inSync: true })
})

test('a column is also renamed by `change`, which redefines it', async () => {
  const change = [{ name: 'kind', to: { name: 'sort', type: 'enum', values: ['a', 'b', 'c'], default: 'c' } }]
  const rename = [{ name: 'select', to: 'seats' }]
  const { columns: after } = (await at.api.patch('/tables/rooms', { columns: { change, rename } })).data(
    Table,
  )
  expect(after).toMatchObject([
    { unique: true },
    { name: 'seats' },
    { name: 'sort', default: 'c' },
    { expression: 'seats * 2' },
  ])
})

test('a rename is promoted, and rolled back with everything that refers to the column', async () => {
  const staging = at.service.as(testPrincipal({ workspaceId: at.workspaceId, environment: 'staging' }))
  const taken = await staging.post('/migrations/promote', { from: 'production' })
  expect(taken.data(Promotion).migrations).toHaveLength(4)
  const there = (await staging.get('/tables/rooms')).data(Table)
  const here = (await at.api.get('/tables/rooms')).data(Table)
  expect(there.checks).toEqual(here.checks)
  for (const _ of [1, 2]) {
    const [last] = (await at.api.get('/migrations?status=applied&sort=-number&limit=1')).page(Migration).items
    if (last?.name.startsWith('Change')) await at.rolledBack(last)
  }
  expect((await at.api.get('/tables/rooms')).data(Table)).toMatchObject({
    checks: definition.checks,
    rules: definition.rules,
  })
  expect(await at.drift()).toMatchObject({ inSync: true })
})

test.each([
  [{ rename: [{ name: 'absent', to: 'b' }] }, '/columns/rename/0/name'],
  [{ rename: [{ name: 'seats', to: 'b' }], drop: ['seats'] }, '/columns/rename/0/name'],
  [
    {
      rename: [
        { name: 'seats', to: 'b' },
        { name: 'seats', to: 'c' },
      ],
    },
    '/columns/rename/1/name',
  ],
  [{ rename: [{ name: 'seats', to: 'version' }] }, '/columns/rename/0/to'],
])('the change %j is rejected', async (change, path) => {
  const answer = await at.api.patch('/tables/rooms', { columns: change })
  expect(answer.status).toBe(422)
  expect(answer.error().details).toMatchObject([{ path }])
})
