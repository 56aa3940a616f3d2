import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { RecordChange, StudioRecord } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { type MigrationsFixture, startMigrations } from '../fixture/migrations-fixture.js'

let at: MigrationsFixture
beforeAll(async () => {
  at = await startMigrations()
  await at.migrated('Things', 'create table things (name text, quantity int, price numeric, extra jsonb);')
  await at.api.post('/tables/things/records', { name: 'Drill', extra: { a: 1 } })
})
afterAll(() => at?.stop())

const asOf = '2099-01-01T00:00:00Z'
const query = (fields: object) => new URLSearchParams({ ...fields })

describe('a filter', () => {
  const refused: [filter: string, path: string, code: string][] = [
    ['{"extra.a":1e400}', '/extra.a', 'too_big'],
    ['{"extra.a":{"gt":-1e400}}', '/extra.a/gt', 'too_big'],
    ['{"extra.a":{"in":[1e400]}}', '/extra.a/in/0', 'too_big'],
    ['{"quantity":1e400}', '/quantity', 'too_big'],
    ['{"extra.a":"\\ud800"}', '/extra.a', 'invalid_text'],
    ['{"extra.a":{"gt":"\\u0000"}}', '/extra.a/gt', 'invalid_text'],
    ['{"extra.\\u0000":1}', '/extra.\0', 'invalid_text'],
    ['{"extra.\\ud800":1}', '/extra.\ud800', 'invalid_text'],
    ['{"name":"\\ud800"}', '/name', 'invalid_text'],
    ['{"name":{"starts_with":"\\ud800"}}', '/name/starts_with', 'invalid_text'],
    ['{"id":{"in":["\\ud800","a"]}}', '/id/in/0', 'invalid_text'],
    ['{"name"', '', 'invalid_format'],
  ]
  test.each(refused)('%s is rejected with the path of the invalid value', async (filter, path, code) => {
    for (const way of [{}, { asOf }, { count: 'exact' }]) {
      const answer = await at.api.get(`/tables/things/records?${query({ ...way, filter })}`)
      const details = [{ in: 'query', path: `/filter${path}`, code }]
      expect(answer.error()).toMatchObject({ code: 'validation_failed', details })
    }
  })

  it('may contain a text that resembles an escape sequence', async () => {
    const filter = '{"extra.a":{"ne":"\\\\u0000"}}'
    const { items } = (await at.api.get(`/tables/things/records?${query({ filter })}`)).page(StudioRecord)
    expect(items).toHaveLength(1)
  })
})

describe('a column whose type has changed', () => {
  const path = '/tables/sizes/records'
  let cursor = ''
  let id = ''
  beforeAll(async () => {
    await at.migrated('Sizes', 'create table sizes (name text, size text);')
    const made = await at.api.post(path, { name: 'one', size: 'large' })
    id = made.data(StudioRecord).id
    await at.api.post(path, { name: 'two', size: '8' })
    cursor = (await at.api.get(`${path}?sort=-size&limit=1`)).page(StudioRecord).pagination.nextCursor ?? ''
    const rules = [{ role: 'clerk', read: { size: { ne: 7 } }, write: null }]
    await at.migrated(
      'Numbers',
      `alter table sizes alter size type int using case when size ~ '^\\d+$' then size::int else 5 end;`,
    )
    expect((await at.api.patch('/tables/sizes', { rules })).status).toBe(200)
  })

  it('matches past values that can be converted to its present type', async () => {
    const found = async (filter: object) =>
      (await at.api.get(`${path}?${query({ asOf, filter: JSON.stringify(filter) })}`))
        .page(StudioRecord)
        .items.map(({ name }) => name)
    expect(await found({ size: { gte: 5 } })).toEqual(['two'])
    expect(await found({ size: { in: [8, 9] } })).toEqual(['two'])
    expect(await found({ size: { ne: 9 } })).toEqual(['two'])
    expect(await found({ size: null })).toEqual([])
    expect(await found({})).toEqual(['two', 'one'])
  })

  it('hides past records from a user whose row rule cannot be evaluated on them', async () => {
    const clerk = at.service.as(testPrincipal({ workspaceId: at.workspaceId, role: 'clerk' }))
    expect((await clerk.get(`${path}?asOf=${asOf}`)).page(StudioRecord).items).toMatchObject([
      { name: 'two' },
    ])
    expect((await clerk.get(`${path}/${id}?asOf=${asOf}`)).status).toBe(404)
    expect((await clerk.get(`${path}/${id}/history`)).page(RecordChange).items).toEqual([])
    expect((await clerk.get(`${path}/${id}`)).data(StudioRecord)).toMatchObject({ size: 5 })
  })

  it('invalidates the cursors of lists sorted by it', async () => {
    const answer = await at.api.get(`${path}?sort=-size&limit=1&after=${cursor}`)
    expect(answer.error().code).toBe('invalid_cursor')
  })
})
