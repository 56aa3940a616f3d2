import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { StudioRecord } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import postgres from 'postgres'
import { startStudio } from '../record/studio.fixture.js'
import { smallTable } from './list.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
const principal = testPrincipal()
const columns = [
  { name: 'title', type: 'text' },
  { name: 'code', type: 'text' },
  { name: 'extra', type: 'json' },
]
const titles = [
  'ThinkPad X1',
  'Müller & Søn',
  'Straße 5',
  'ПРИНТЕР',
  '打印机无法连接网络',
  '100% sure',
  'naïve cœur',
  null,
]

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  await api.post('/tables', { slug: 'small', columns })
  await api.post('/tables', {
    ...{ slug: 'large', columns },
    indexes: [{ columns: [{ name: 'title' }], kind: 'trigram' }, { columns: [{ name: 'code' }] }],
  })
  for (const slug of ['small', 'large'])
    await api.post(`/tables/${slug}/records/bulk`, {
      records: titles.map((title) => ({ title, code: title, extra: { title } })),
    })
  const [space] = await at.studio
    .sql`select schema_name from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  const sql = postgres(at.studio.adminUrl, { max: 1, onnotice: () => {}, fetch_types: false })
  await sql.unsafe(`insert into ${space?.schema_name}.large (title, code)
    select 'Common ' || n, 'number' || n from generate_series(1, ${smallTable + 5_000}) n`)
  await sql.unsafe(`vacuum analyze ${space?.schema_name}.large`)
  await sql.end()
})
afterAll(() => at?.studio.stop())

const found = async (slug: string, filter: object) => {
  const query = new URLSearchParams({ filter: JSON.stringify(filter), sort: 'id' })
  return (await api.get(`/tables/${slug}/records?${query}`))
    .page(StudioRecord)
    .items.map(({ title }) => title)
}

test.each([
  ['think', 'ThinkPad X1'],
  ['PAD', 'ThinkPad X1'],
  ['muller', 'Müller & Søn'],
  ['MÜLLER', 'Müller & Søn'],
  ['son', 'Müller & Søn'],
  ['strasse', 'Straße 5'],
  ['принтер', 'ПРИНТЕР'],
  ['无法', '打印机无法连接网络'],
  ['0%', '100% sure'],
  ['naive coeur', 'naïve cœur'],
])('the filter matches %s finds %s, in a text column and in a JSON column', async (text, title) => {
  expect(await found('small', { title: { matches: text } })).toEqual([title])
  expect(await found('small', { 'extra.title': { matches: text } })).toEqual([title])
})

test('matches_start finds only texts that begin with the value', async () => {
  expect(await found('small', { title: { matches_start: 'think' } })).toEqual(['ThinkPad X1'])
  expect(await found('small', { title: { matches_start: 'pad' } })).toEqual([])
  expect(await found('small', { title: { matches: 'a_' } })).toEqual([])
})

test('a large table is searched by an index, which finds texts with the same accents', async () => {
  expect(await found('large', { title: { matches: 'THINK' } })).toEqual(['ThinkPad X1'])
  expect(await found('large', { title: { matches_start: 'müll' } })).toEqual(['Müller & Søn'])
  const ordered = new URLSearchParams({
    filter: JSON.stringify({ code: { matches_start: 'Think' } }),
    sort: 'code',
  })
  expect((await api.get(`/tables/large/records?${ordered}`)).page(StudioRecord).items).toHaveLength(1)
})
