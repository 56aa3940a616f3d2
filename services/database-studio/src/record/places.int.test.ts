import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { StudioRecord } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { startStudio } from './studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
let id: string
const text = (name: string) => ({ name, type: 'text' })

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(testPrincipal())
  await api.post('/tables', {
    slug: 'parts',
    columns: [text('name'), { name: 'big', type: 'decimal', precision: 4, scale: 2 }, text('code')],
    indexes: [{ name: 'both', columns: [{ name: 'name' }, { name: 'code' }] }],
    uniques: [{ name: 'one_code', columns: ['code'] }],
    checks: [{ name: 'named', expression: "name <> '-'" }],
  })
  id = (await api.post('/tables/parts/records', { name: 'a', code: 'a' })).data(StudioRecord).id
})
afterAll(() => at?.studio.stop())

const create = (data: object) => ({ op: 'create', table: 'parts', data })
const update = (rest: object) => ({ op: 'update', table: 'parts', data: {}, ...rest })
const records = '/tables/parts/records'
const unknown = { columns: [{ name: 'gone' }] }

/** Requests with one invalid value, and the place of that value. */
const cases: [place: string, method: string, path: string, body: () => object][] = [
  ['/big', 'POST', records, () => ({ big: 'x' })],
  ['/big', 'PATCH', `${records}/:id`, () => ({ big: 123.456 })],
  ['/name', 'PATCH', `${records}/:id`, () => ({ name: '-' })],
  ['/records/1/big', 'POST', `${records}/bulk`, () => ({ records: [{}, { big: 'x' }] })],
  ['/records/1/name', 'POST', `${records}/bulk`, () => ({ records: [{}, { name: '-' }] })],
  ['/records/0/big', 'PUT', `${records}/bulk`, () => ({ on: ['code'], records: [{ code: 'b', big: 'x' }] })],
  ['/on', 'PUT', `${records}/bulk`, () => ({ on: ['name'], records: [{ name: 'b' }] })],
  ['/set/big', 'PATCH', `${records}/bulk`, () => ({ filter: { id }, set: { big: 'x' } })],
  ['/filter/gone', 'PATCH', `${records}/bulk`, () => ({ filter: { gone: 1 }, set: { name: 'b' } })],
  ['/filter/gone', 'DELETE', `${records}/bulk`, () => ({ filter: { gone: 1 } })],
  ['/operations/0/data/big', 'POST', '/tables/batch', () => ({ operations: [create({ big: 'x' })] })],
  [
    '/operations/1/data/big',
    'POST',
    '/tables/batch',
    () => ({ operations: [create({}), update({ id, data: { big: 1_000 } })] }),
  ],
  [
    '/operations/1/data/name',
    'POST',
    '/tables/batch',
    () => ({ operations: [create({}), create({ name: '-' })] }),
  ],
  [
    '/operations/0/table',
    'POST',
    '/tables/batch',
    () => ({ operations: [{ ...create({}), table: 'gone' }] }),
  ],
  [
    '/operations/1/as',
    'POST',
    '/tables/batch',
    () => ({ operations: [1, 2].map(() => ({ ...create({}), as: 'one' })) }),
  ],
  [
    '/operations/0/version',
    'POST',
    '/tables/batch',
    () => ({ operations: [update({ id, version: 9, data: { name: 'b' } })] }),
  ],
  [
    '/columns/add/1/expression',
    'PATCH',
    '/tables/parts',
    () => ({
      columns: { add: [text('x'), { name: 'y', type: 'computed', resultType: 'text', expression: 'gone' }] },
    }),
  ],
  [
    '/columns/change/0/to/default',
    'PATCH',
    '/tables/parts',
    () => ({ columns: { change: [{ name: 'big', to: { name: 'big', type: 'integer', default: 'x' } }] } }),
  ],
  ['/columns', 'PATCH', '/tables/parts', () => ({ columns: { drop: ['name'] } })],
  [
    '/indexes/add/1',
    'PATCH',
    '/tables/parts',
    () => ({ indexes: { add: [{ columns: [{ name: 'big' }] }, unknown] } }),
  ],
  ['/uniques/add/0', 'PATCH', '/tables/parts', () => ({ uniques: { add: [{ columns: ['gone'] }] } })],
  [
    '/checks/add/0/expression',
    'PATCH',
    '/tables/parts',
    () => ({ checks: { add: [{ name: 'new', expression: 'gone > 0' }] } }),
  ],
  [
    '/columns/2/default',
    'POST',
    '/tables',
    () => ({ slug: 'new', columns: [text('a'), text('b'), { name: 'c', type: 'integer', default: 'x' }] }),
  ],
]

it.each(cases)('an error has the path %s for the body of %s %s', async (place, method, path, body) => {
  const sent = body()
  const error = (await api.send(method, path.replace(':id', id), { body: sent })).error()
  expect(error.details.map((detail) => `${detail.in} ${detail.path}`)).toEqual([`body ${place}`])
  expect(error.message).not.toMatch(/body\./)
  const parent = place.split('/').slice(1, -1)
  expect(parent.reduce<unknown>((value, key) => Object(value)[key], sent)).toBeInstanceOf(Object)
})

it.each([
  ['/fields', { fields: 'name,gone' }],
  ['/expand', { expand: 'gone' }],
  ['/sort', { sort: 'gone' }],
  ['/filter/gone', { filter: '{"gone":1}' }],
])('an error has the path %s for the query of a list', async (place, query) => {
  const error = (await api.get(`${records}?${new URLSearchParams(Object.entries(query))}`)).error()
  expect(error.details.map((detail) => `${detail.in} ${detail.path}`)).toEqual([`query ${place}`])
  expect(error.message).toContain(`query ${place} `)
})
