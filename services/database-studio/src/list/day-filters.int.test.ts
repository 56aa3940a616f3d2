import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { BulkChanged, StudioRecord } from '@opsplane/contracts'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
const path = '/tables/visits/records'
/** Around 29 March, when Berlin switches to summer time: midnight is 23:00 UTC of the day before, then 22:00 UTC. */
const visits = {
  before: '2026-03-28T22:59:59.999Z',
  begins: '2026-03-28T23:00:00.000Z',
  ends: '2026-03-29T21:59:59.999Z',
  after: '2026-03-29T22:00:00.000Z',
}
beforeAll(async () => {
  at = await startMigrations()
  await at.api.post('/tables', {
    slug: 'visits',
    columns: [
      { name: 'name', type: 'text' },
      { name: 'seen', type: 'timestamp' },
    ],
  })
  const records = Object.entries(visits).map(([name, seen]) => ({ name, seen }))
  await at.api.post(`${path}/bulk`, { records })
})
afterAll(() => at?.stop())

const query = (filter: object, zone?: string) =>
  `filter=${encodeURIComponent(JSON.stringify(filter))}${zone ? `&timeZone=${zone}` : ''}`
const found = async (filter: object, zone?: string, rest = '') =>
  (await at.api.get(`${path}?${query(filter, zone)}${rest}`)).page(StudioRecord).items.map(({ name }) => name)

const day = { seen: { gte: '2026-03-29', lt: '2026-03-30' } }

test.each<[string | undefined, object, string[]]>([
  ['Europe/Berlin', day, ['ends', 'begins']],
  [undefined, day, ['after', 'ends']],
  ['America/Argentina/Buenos_Aires', { seen: { lt: '2026-03-29' } }, ['begins', 'before']],
  ['Europe/Berlin', { seen: '2026-03-29' }, ['begins']],
  [
    'Europe/Berlin',
    { seen: { in: ['2026-03-29', '2026-03-30', visits.before] } },
    ['after', 'begins', 'before'],
  ],
  ['Europe/Berlin', { or: [{ seen: { gte: '2026-03-30' } }, { name: 'before' }] }, ['after', 'before']],
  ['Europe/Berlin', { seen: { gte: '2026-03-29T22:00:00.000000+00:00' } }, ['after']],
])('a date in a filter means the start of its day in time zone %s: %j', async (zone, filter, names) => {
  expect(await found(filter, zone)).toEqual(names)
  const asOf = `&asOf=${new Date(Date.now() + 60_000).toISOString()}`
  expect(await found(filter, zone, asOf)).toEqual(names)
  const exported = (await at.api.get(`${path}/export?format=ndjson&${query(filter, zone)}`)).text
  const lines = exported
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { name: string }).name)
  expect(lines.toReversed()).toEqual(names)
  const body = { filter, ...(zone && { timeZone: zone }), set: { name: 'x' }, dryRun: true }
  const changed = (await at.api.send('PATCH', `${path}/bulk`, { body })).data(BulkChanged)
  expect(changed.count).toBe(names.length)
})

test.each([
  [query({ seen: '2026-02-30' }), '/filter/seen'],
  [query({ seen: '2026-03-29T10:00:00' }), '/filter/seen'],
  [query(day, 'Europe/Nowhere'), '/timeZone'],
])('the query %s is rejected', async (wrong, place) => {
  expect((await at.api.get(`${path}?${wrong}`)).error().details).toMatchObject([{ path: place }])
})
