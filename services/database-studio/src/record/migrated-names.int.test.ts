import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { RecordChange, StudioRecord, Table } from '@opsplane/contracts'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
beforeAll(async () => {
  at = await startMigrations()
})
afterAll(() => at?.stop())

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))

const names = [
  'firstName',
  'größe',
  '数量',
  'Price (€)',
  'a b',
  "it's",
  'x:y',
  '_id',
  'constructor',
  '1',
  'select',
  'é'.repeat(31),
]

test.each(names)('a column with the name %s works like any other column', async (name) => {
  const slug = `named_${names.indexOf(name)}`
  const column = `"${name}"`
  await at.migrated(
    name,
    `create table ${slug} (label text unique, ${column} int unique); create index on ${slug} (${column}, label)`,
  )
  const found = (await at.api.get(`/tables/${slug}`)).data(Table)
  expect(found.columns[1]).toMatchObject({ name, type: 'integer', unique: true })
  expect(found.indexes).toMatchObject([{ columns: [{ name }, { name: 'label' }] }])

  const path = `/tables/${slug}/records`
  const events = await at.eventsOf(async () => {
    const made = (await at.api.post(path, { label: 'a', [name]: 1 })).data(StudioRecord)
    expect(made[name]).toBe(1)
    expect((await at.api.patch(`${path}/${made.id}`, { [name]: 2 })).data(StudioRecord)[name]).toBe(2)
    await at.api.post(`${path}/bulk`, { records: [{ label: 'b', [name]: 5 }, { label: 'c' }] })
    await at.api.send('PUT', `${path}/bulk`, { body: { on: [name], records: [{ label: 'd', [name]: 5 }] } })
    const set = { filter: { [name]: null }, set: { [name]: 7 } }
    expect((await at.api.send('PATCH', `${path}/bulk`, { body: set })).status).toBe(200)
  })
  expect(events.map(({ data }) => data.after?.[name])).toEqual([1, 2, 5, null, 5, 7])
  expect(events[1]?.data.changes).toContain(name)

  const labels = async (query: string) =>
    (await at.api.get(`${path}?${query}`)).page(StudioRecord).items.map(({ label }) => label)
  const sorted = (sort: string) => `sort=${encodeURIComponent(sort)}`
  expect(await labels(`${sorted(name)}&filter=${json({ [name]: { gte: 2 } })}`)).toEqual(['a', 'd', 'c'])
  const first = (await at.api.get(`${path}?${sorted(`-${name}`)}&limit=1`)).page(StudioRecord)
  expect(first.items).toMatchObject([{ label: 'c' }])
  expect(await labels(`${sorted(`-${name}`)}&limit=1&after=${first.pagination.nextCursor}`)).toEqual(['d'])
  const [shown] = (await at.api.get(`${path}?fields=${encodeURIComponent(name)}&limit=1`)).page(
    StudioRecord,
  ).items
  expect(Object.keys(shown ?? {}).sort()).toEqual(['id', 'version', name].sort())
  const { id } = first.items[0] ?? { id: '' }
  const history = (await at.api.get(`${path}/${id}/history`)).page(RecordChange).items
  expect(history.map(({ after }) => after?.[name])).toEqual([7, null])
  const past = `asOf=${new Date(Date.now() + 60_000).toISOString()}&filter=${json({ [name]: 7 })}`
  expect(await labels(past)).toEqual(['c'])
  expect((await at.api.get(`${path}/export`)).text).toContain('label')
  expect(await at.drift()).toMatchObject({ inSync: true })
})

test.each(['a.b', 'a,b', '-a', '~a', 'createdAt', 'tableSlug', 'or', '__proto__'])(
  'a migration that names a column %s is rejected with a hint',
  async (name) => {
    const made = await at.wrote({ name, up: `create table refused ("${name}" int)` })
    const answer = await at.api.post(`/migrations/${made.id}/apply`, {})
    expect(answer.error()).toMatchObject({
      code: 'validation_failed',
      message: `The SQL failed: a column of table refused cannot be called ${name}`,
      details: [{ params: { hint: expect.stringContaining('Names of columns') } }],
    })
    await at.deleted(made)
    const columns = [{ name, type: 'integer' }]
    expect((await at.api.post('/tables', { slug: 'refused', columns })).status).toBe(422)
  },
)

test('a foreign key to a natural key is a reference that can be expanded, and is renamed with its key', async () => {
  await at.migrated(
    'Keys',
    `create table depots (code text unique, number int8 unique);
     create table trucks (depot text references depots (code) on delete cascade, numbered int8 references depots (number));`,
  )
  const { columns } = (await at.api.get('/tables/trucks')).data(Table)
  expect(columns).toMatchObject([
    { type: 'reference', table: 'depots', onDelete: 'cascade', key: { column: 'code', type: 'text' } },
    { type: 'reference', table: 'depots', key: { column: 'number', type: 'bigint' } },
  ])
  await at.api.post('/tables/depots/records', { code: 'BER', number: '9007199254740993' })
  const truck = await at.api.post('/tables/trucks/records', { depot: 'BER', numbered: '9007199254740993' })
  const { id } = truck.data(StudioRecord)
  const expanded = async () =>
    (await at.api.get(`/tables/trucks/records/${id}?expand=depot,numbered`)).data(StudioRecord)
  expect(await expanded()).toMatchObject({ depot: { code: 'BER' }, numbered: { number: '9007199254740993' } })
  const missing = await at.api.post('/tables/trucks/records', { depot: 'HAM' })
  expect(missing.error()).toMatchObject({
    code: 'validation_failed',
    details: [{ path: '/depot', code: 'not_found' }],
  })
})
