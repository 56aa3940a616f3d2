import { afterAll, beforeAll, expect, it, test } from '@jest/globals'
import { Drift, StudioRecord } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import postgres from 'postgres'
import { provisionDataPlane } from '../data-plane/provision-data-plane.js'
import { startStudio } from '../record/studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
let schema: string
const principal = testPrincipal()
const columns = ['title', 'note'].map((name) => ({ name, type: 'text' }))
const slugs = ['indexed', 'plain'] as const

const cases = [
  ['打印机无法连接网络', ['打印机', '印机', '无法连接', '机', '打印机无法连接网络'], ['打机', '复印机']],
  [
    '新しい電源アダプターが届かない',
    ['電源', 'アダプター', '電源アダプター', '届かない'],
    ['電アダ', '電話'],
  ],
  ['3층 프린터가 고장났어요', ['프린터', '고장'], ['린프', '스캐너']],
  ['เครื่องพิมพ์ไม่ทำงาน', ['พิมพ์', 'เครื่องพิมพ์', 'ไม่ทำงาน'], ['พ์พิ', 'สแกนเนอร์']],
  ['Müller', ['muller', 'MÜLLER'], ['mueller']],
  ['GRÖSSE', ['große', 'grosse', 'größe'], ['groesse']],
  ['Søn & cœur, Łódź', ['son', 'coeur', 'łódź', 'lodz'], ['soen']],
] as const

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  const indexes = [{ columns: [{ name: 'title' }, { name: 'note' }], kind: 'fulltext', name: 'words' }]
  await api.post('/tables', { slug: 'indexed', columns, indexes })
  await api.post('/tables', { slug: 'plain', columns })
  for (const slug of slugs)
    await api.post(`/tables/${slug}/records/bulk`, {
      records: [...cases.map(([title]) => ({ title: `${title} WLAN` })), { title: 'WLAN' }],
    })
  const [space] = await at.studio
    .sql`select schema_name from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  schema = String(space?.schema_name)
})
afterAll(() => at?.studio.stop())

const found = async (slug: string, q: string) => {
  const query = new URLSearchParams({ q })
  return (await api.get(`/tables/${slug}/records?${query}`))
    .page(StudioRecord)
    .items.map(({ title }) => title)
}
const finds = async (slug: string, [text, queries, others]: (typeof cases)[number]) => {
  for (const q of queries) expect([q, await found(slug, q)]).toEqual([q, [`${text} WLAN`]])
  for (const q of others) expect([q, await found(slug, q)]).toEqual([q, []])
}

it.each(cases)('finds records by a part of %s', async (...one) => {
  for (const slug of slugs) await finds(slug, one)
})

it.each([
  ['"打印机无法" -프린터', '打印机无法连接网络 WLAN'],
  ['WLAN 電源', '新しい電源アダプターが届かない WLAN'],
  ['프린터 고장', '3층 프린터가 고장났어요 WLAN'],
])('finds %s by words that are not adjacent', async (q, title) => {
  expect(await found('indexed', q)).toEqual([title])
})

test('an index of an earlier version is rebuilt, and the table keeps its definition', async () => {
  const admin = postgres(at.studio.adminUrl, {
    ...{ max: 1, onnotice: () => {}, fetch_types: false, connection: { search_path: 'database_studio' } },
  })
  const indexes = async () =>
    (
      await admin`select c.relname as name, pg_get_expr(i.indexprs, i.indrelid) as over from pg_index i
        join pg_class c on c.oid = i.indexrelid
        where i.indrelid = ${`${schema}.indexed`}::regclass and i.indexprs is not null`
    ).map(({ name, over }) => ({ name, over }))
  const now = await indexes()
  expect(now).toEqual([{ name: 'words', over: expect.stringContaining('studio.search_words(') }])
  await admin.unsafe(`drop index ${schema}.words`)
  await admin.unsafe(`create index words on ${schema}.indexed using gin (to_tsvector('simple'::regconfig,
    coalesce(title, ''::text) || ' '::text || coalesce(note, ''::text)))`)
  await admin.unsafe(`update table_shapes s set shape = table_shape(c.relation) from captured_tables c
    where c.table_id = s.table_id`)
  await provisionDataPlane({ adminUrl: at.studio.adminUrl })
  expect(await indexes()).toEqual(now)
  expect((await api.get('/migrations/drift')).data(Drift)).toEqual({ inSync: true, differences: [] })
  await finds('indexed', cases[0])
  await admin.end()
})
