import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { StudioRecord } from '@opsplane/contracts'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
beforeAll(async () => {
  at = await startMigrations()
})
afterAll(() => at?.stop())

test('a record is answered with 304 for a current ETag, unless more than its version may have changed', async () => {
  await at.migrated(
    'Sites',
    'create table sites (name text); create table assets (name text, site text references sites (id))',
  )
  const site = (await at.api.post('/tables/sites/records', { name: 'Berlin' })).data(StudioRecord)
  const path = '/tables/assets/records'
  const made = (await at.api.post(path, { name: 'Drill', site: site.id })).data(StudioRecord)
  const get = (query: string, tag: string) =>
    at.api.send('GET', `${path}/${made.id}${query}`, { headers: { 'if-none-match': tag } })
  const seen = await get('', '"1"')
  expect(seen.status).toBe(304)
  expect(seen.headers.get('etag')).toBe('"1"')
  expect((await get('?fields=name,updatedAt', 'W/"1"')).status).toBe(304)
  expect((await get('', '"2"')).status).toBe(200)
  expect((await get('?expand=site', '"1"')).status).toBe(200)

  await at.api.patch('/tables/assets', { columns: { add: [{ name: 'size', type: 'integer' }] } })
  expect((await get('', '"1"')).data(StudioRecord)).toMatchObject({ version: 1, size: null })
  await at.api.patch(`${path}/${made.id}`, { size: 5 })
  expect((await get('', '"1"')).status).toBe(200)
  expect((await get('', '"2"')).status).toBe(304)
})
