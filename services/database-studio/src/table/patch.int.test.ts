import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Table } from '@opsplane/contracts'
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
const refusal = async (slug: string, body: object): Promise<[number, unknown]> => {
  const answer = await at.api.patch(`/tables/${slug}`, body)
  return [answer.status, answer.error().details?.[0]]
}
const named = (prefix: string, count: number, of: (name: string) => object) =>
  Array.from({ length: count }, (_, index) => of(`${prefix}${index}`))

describe('a change', () => {
  it('takes a table no further than it can be made', async () => {
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

  it('names each column once', async () => {
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
})
