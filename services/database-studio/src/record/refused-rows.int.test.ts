import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { RecordImport, StudioRecord } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
let site: StudioRecord
beforeAll(async () => {
  at = await startMigrations()
  await at.migrated(
    'Small',
    `create table sites (name text);
     create table assets (serial text unique, tiny int2, seats int check (seats > 0), kind text not null,
       site text references sites (id), filled int generated always as identity, "a/b" int2)`,
  )
  site = (await at.api.post('/tables/sites/records', { name: 'Berlin' })).data(StudioRecord)
  await at.api.post('/tables/assets/records', { serial: 'taken', kind: 'x' })
})
afterAll(() => at?.stop())

const good = (n: number) => ({ serial: `s${n}`, kind: 'x' })
const rows = (place: number, bad: object) =>
  Array.from({ length: 7 }, (_, n) => (n === place ? { ...good(n), ...bad } : good(n)))
const absent = 'rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'

/** Rows that only Postgres rejects: the row, the column, and the part of the value in the error. */
const refusals: [what: string, bad: object, column: string, value: string | undefined, status: number][] = [
  ['a key that is there', { serial: 'taken' }, 'serial', 'taken', 409],
  ['a key that another row has', { serial: 's0' }, 'serial', 's0', 409],
  ['a number beyond the column', { tiny: 40_000 }, 'tiny', '40000', 422],
  ['a column whose name is no part of a path', { 'a/b': 40_000 }, 'a~1b', '40000', 422],
  ['a check', { seats: -1 }, 'seats', '-1', 422],
  ['a reference to nothing', { site: absent }, 'site', absent, 422],
  ['what Postgres fills', { filled: 5 }, 'filled', '5', 422],
]

const ways: Record<
  string,
  (bad: object) => Promise<[Awaited<ReturnType<MigrationsFixture['api']['post']>>, string]>
> = {
  'one record': async (bad) => [await at.api.post('/tables/assets/records', { ...good(9), ...bad }), ''],
  'bulk create': async (bad) => [
    await at.api.post('/tables/assets/records/bulk', { records: rows(5, bad) }),
    '/records/5',
  ],
  'bulk create of rows that name other columns': async (bad) => [
    await at.api.post('/tables/assets/records/bulk', {
      records: [...rows(5, bad), { kind: 'y', site: site.id }],
    }),
    '/records/5',
  ],
  'a batch': async (bad) => {
    const operations = rows(5, bad).map((data) => ({ op: 'create', table: 'assets', data }))
    return [await at.api.post('/tables/batch', { operations }), '/operations/5/data']
  },
}

for (const [way, send] of Object.entries(ways))
  test.each(refusals.filter(([what]) => way !== 'one record' || what !== 'a key that another row has'))(
    `${way} with %s names the row and its value, and writes none`,
    async (_, bad, column, value, status) => {
      const [answer, path] = await send(bad)
      expect(answer.status).toBe(status)
      expect(answer.error().details).toMatchObject([
        { in: 'body', path: `${path}/${column}`, params: { value } },
      ])
      const { rows: found } = { rows: await at.rows('select count(*)::int as n from assets') }
      expect(found).toEqual([{ n: 1 }])
    },
  )

test('PUT reports the row that Postgres rejects, and the row with the key of another record', async () => {
  const put = (records: object[]) =>
    at.api.send('PUT', '/tables/assets/records/bulk', { body: { on: ['serial'], records } })
  const refused = await put(rows(3, { tiny: 40_000 }))
  expect(refused.error().details).toMatchObject([{ path: '/records/3/tiny', params: { value: '40000' } }])
  const twice = await put([...rows(-1, {}), good(2)])
  expect(twice.error().details).toMatchObject([{ path: '/records/7', code: 'not_unique' }])
})

test('a change by a filter reports the column and the value that Postgres rejects', async () => {
  const body = { filter: { kind: 'x' }, set: { tiny: 40_000 } }
  const answer = await at.api.send('PATCH', '/tables/assets/records/bulk', { body })
  expect(answer.error().details).toMatchObject([{ path: '/set/tiny', params: { value: '40000' } }])
})

test('an import reports the rejected value for each line', async () => {
  const body = rows(5, { serial: 'taken' })
    .map((row) => JSON.stringify(row))
    .join('\n')
  const headers = { ...(await at.service.headers(at.principal)), 'content-type': 'application/x-ndjson' }
  const url = `${at.service.url}/tables/assets/records/import?format=ndjson`
  const sent = (await (await fetch(url, { method: 'POST', headers, body })).json()) as { data: unknown }
  const { id } = RecordImport.parse(sent.data)
  const done = await waitFor(async () => {
    const one = (await at.api.get(`/tables/assets/imports/${id}`)).data(RecordImport)
    return one.finishedAt === null ? undefined : one
  })
  expect(done).toMatchObject({
    written: 6,
    refusedRows: [
      { line: 6, path: '/serial', message: 'There is a record with the same serial already: taken.' },
    ],
  })
})

const coarse: [sql: string, kept: unknown, rounded: unknown[]][] = [
  ['timestamptz(0)', '2026-03-02T10:00:00.000Z', ['2026-03-02T10:00:00.5Z', '2026-03-02T10:00:00.001Z']],
  ['timestamptz(2)', '2026-03-02T10:00:00.250Z', ['2026-03-02T10:00:00.255Z']],
  ['timestamp(0)', '2026-03-02T10:00:00', ['2026-03-02T10:00:00.5']],
  ['time(0)', '10:00:00', ['10:00:00.5']],
  ['interval(0)', 'PT1S', ['PT1.5S']],
  ['numeric(6,1)', '1.5', ['1.25', 1.25]],
  ['numeric(3,-1)', '120', ['125', '0.5']],
  ['numeric(2,4)', '0.0012', ['0.00125']],
  ['real', 0.1, [0.123456789, 16_777_217, 1e300, 1e-300]],
  ['timestamptz(0)[]', ['2026-03-02T10:00:00.000Z'], [[null, '2026-03-02T10:00:00.5Z']]],
  ['time(0)[]', ['10:00:00'], [['10:00:00.5']]],
  ['numeric(6,1)[]', ['1.5'], [['1.25']]],
  ['real[]', [0.1], [[0.123456789]]],
]

test("a value that a column created by a migration would round is rejected with the column's name", async () => {
  const columns = coarse.map(([sql], index) => `c${index} ${sql}`)
  await at.migrated('Coarse', `create table coarse (${columns.join(', ')})`)
  const path = '/tables/coarse/records'
  for (const [index, [sql, kept, rounded]] of coarse.entries()) {
    const made = await at.api.post(path, { [`c${index}`]: kept })
    expect([sql, made.data(StudioRecord)]).toMatchObject([sql, { [`c${index}`]: kept }])
    const filter = json({ [`c${index}`]: kept })
    expect([sql, (await at.api.get(`${path}?filter=${filter}`)).page(StudioRecord).items.length]).toEqual([
      sql,
      1,
    ])
    for (const value of rounded) {
      const refused = (await at.api.post(path, { [`c${index}`]: value })).error()
      expect([sql, value, refused.code, refused.details.map((each) => each.path)]).toEqual([
        ...[sql, value, 'validation_failed', [`/c${index}`]],
      ])
      if (!Array.isArray(value)) continue
      // A filter may compare with more digits than the column stores.
      const asked = await at.api.get(`${path}?filter=${json({ [`c${index}`]: value })}`)
      expect([sql, value, asked.page(StudioRecord).items]).toEqual([sql, value, []])
    }
  }
  const change = [{ name: 'c0', to: { name: 'c0', type: 'timestamp', precision: 1 } }]
  const refused = (await at.api.patch('/tables/coarse', { columns: { change } })).error()
  expect(refused.message).toContain('only by migrations')
  expect((await at.api.patch('/tables/coarse', { slug: 'coarser' })).status).toBe(200)
  expect(await at.drift()).toMatchObject({ inSync: true })
})

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))
