import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { StudioRecord, Table } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import postgres from 'postgres'
import { z } from 'zod'
import { startStudio } from '../record/studio.fixture.js'
import { Problems } from '../row/problems.js'
import { selectAllFields } from '../row/selection.js'
import { findAccessPath } from './access-path.js'
import { listStatement } from './list-statement.js'
import { buildSearchCondition } from './search.js'
import { readSort } from './sort.js'

const rows = 60_000
const limit = 51
let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
let sql: postgres.Sql
let schema: string
let articles: Table
const principal = testPrincipal()
const path = '/tables/articles/records'
const body = {
  slug: 'articles',
  columns: [
    { name: 'title', type: 'text' },
    { name: 'text', type: 'text' },
    { name: 'secret', type: 'text' },
    { name: 'shelf', type: 'integer' },
  ],
  indexes: [{ columns: [{ name: 'title' }, { name: 'text' }], kind: 'fulltext' }],
}
const texts: Record<string, object> = {
  drill: { title: 'Cordless drill', text: 'Two batteries, one broken.', secret: 'hidden word', shelf: 1 },
  saw: { title: 'Circular saw', text: 'Its battery is cordless, too', shelf: 2 },
  umlaut: { title: 'Prüfgerät für Öl', text: null, shelf: 1 },
}

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  articles = (await api.post('/tables', body)).data(Table)
  const [space] = await at.studio
    .sql`select schema_name from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  schema = space?.schema_name as string
  sql = postgres(at.studio.adminUrl, { max: 1, onnotice: () => {}, fetch_types: false })
  await sql.unsafe(`insert into ${schema}.articles (title, text, shelf)
    select 'Common ' || n % 977, 'number' || n, n % 100 from generate_series(1, ${rows}) n`)
  await api.post(`${path}/bulk`, { records: Object.values(texts) })
  await sql.unsafe(`vacuum analyze ${schema}.articles`)
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await at?.studio.stop()
})

const search = async (query: Record<string, string>, client = api) =>
  (await client.get(`${path}?${new URLSearchParams(query)}`))
    .page(StudioRecord)
    .items.map(({ title }) => title)

describe('a search by a full-text index', () => {
  test.each<[string, string[]]>([
    ['cordless', ['Circular saw', 'Cordless drill']],
    ['CORDLESS saw', ['Circular saw']],
    ['"cordless drill"', ['Cordless drill']],
    ['"drill cordless"', []],
    ['cordless -saw', ['Cordless drill']],
    ['drill or öl', ['Prüfgerät für Öl', 'Cordless drill']],
    ['prüfgerät', ['Prüfgerät für Öl']],
    ['cord', []],
    ['hidden', []],
    [`it's "open & (strange | !`, []],
    ['number4711', ['Common 803']],
  ])('finds records by %s', async (q, titles) => {
    expect(await search({ q })).toEqual(titles)
  })

  it('is filtered, sorted and counted', async () => {
    expect(await search({ q: 'cordless', filter: '{"shelf":1}' })).toEqual(['Cordless drill'])
    expect(await search({ q: 'cordless', sort: 'title' })).toEqual(['Circular saw', 'Cordless drill'])
    const { pagination } = (await api.get(`${path}?q=cordless&count=exact`)).page(StudioRecord)
    expect(pagination.total).toBe(2)
  })

  it('pages through all matches', async () => {
    const found: unknown[] = []
    for (let after: string | undefined; ; ) {
      const query = new URLSearchParams({ q: '"common 7"', limit: '20', ...(after && { after }) })
      const { items, pagination } = (await api.get(`${path}?${query}`)).page(StudioRecord)
      found.push(...items.map(({ id }) => id))
      if (!pagination.hasMore) break
      after = pagination.nextCursor ?? undefined
    }
    expect(found).toHaveLength(Math.floor((rows - 7) / 977) + 1)
    expect(new Set(found).size).toBe(found.length)
  })

  it('never returns records of another workspace', async () => {
    const other = at.studio.as(testPrincipal())
    await other.post('/tables', body)
    expect(await search({ q: 'cordless' }, other)).toEqual([])
  })

  test.each(['force_custom_plan', 'force_generic_plan'])(
    'reads only the rows it finds, with %s',
    async (mode) => {
      const sort = readSort(articles, undefined, { in: 'query', path: '' }, new Problems())
      const access = findAccessPath(articles, { conditions: [], sort, q: 'number4711' })
      const asked = { selection: selectAllFields(articles), schema, conditions: [], sort, access, limit }
      const { text, parameters } = listStatement({
        ...asked,
        search: buildSearchCondition(articles, 'number4711'),
      })
      await sql.unsafe(`set plan_cache_mode = ${mode}`)
      const [row] = await sql.unsafe(`explain (analyze, format json) ${text}`, [...parameters], {
        prepare: true,
      })
      expect(access).toMatchObject({ served: true })
      expect(readBy(Plan.parse(row?.['QUERY PLAN']?.[0]?.Plan))).toBeLessThanOrEqual(limit)
    },
  )
})

interface Node {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number | undefined
  Plans?: Node[] | undefined
}
const Plan: z.ZodType<Node> = z.looseObject({
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().optional(),
  get Plans() {
    return z.array(Plan).optional()
  },
})

/** The maximum number of rows that any node of a plan has read. */
const readBy = (node: Node): number =>
  Math.max(
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    ...(node.Plans ?? []).map(readBy),
  )
