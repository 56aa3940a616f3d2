import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import postgres from 'postgres'
import { z } from 'zod'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'
import { readFilter } from '../row/filter.js'
import { Problems } from '../row/problems.js'
import { selectAllFields } from '../row/selection.js'
import { findAccessPath } from './access-path.js'
import { listStatement } from './list-statement.js'
import { extractPosition, readSort } from './sort.js'

const rows = 60_000
const limit = 51
let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
let schema: string
let sql: postgres.Sql
const principal = testPrincipal()
const sites = TableState.parse({
  ...assets,
  slug: 'sites',
  columns: [{ name: 'name', type: 'text' }],
  indexes: [],
})

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  await at.addTable(principal, sites)
  await at.addTable(principal, assets)
  const [space] = await at.studio
    .sql`select schema_name from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  schema = space?.schema_name as string
  sql = postgres(at.studio.adminUrl, { max: 1, onnotice: () => {}, fetch_types: false })
  await sql.unsafe(`insert into ${schema}.assets (name, serial, quantity, price, status)
    select 'Asset ' || n % 977, 'S-' || n, n % 100, case when n % 10 = 0 then null else n % 5000 / 100.0 end,
      case n % 3 when 0 then 'new' when 1 then 'used' end from generate_series(1, ${rows}) n`)
  await sql.unsafe(`analyze ${schema}.assets`)
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await at?.studio.stop()
})

interface Node {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

const readBy = (node: Node): number =>
  Math.max(
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    ...(node.Plans ?? []).map(readBy),
  )

describe('a list that an index serves', () => {
  const lists: [object, string | undefined][] = [
    [{}, undefined],
    [{}, 'createdAt'],
    [{}, 'price'],
    [{}, '-price'],
    [{ price: { gte: 3, lt: 40 } }, 'price'],
    [{ status: 'new' }, '-quantity'],
    [{ status: null }, 'quantity'],
    [{ status: 'used', quantity: 31 }, undefined],
    [{ status: { in: ['new', 'used'] } }, '-quantity'],
    [{ serial: { starts_with: 'S-5' } }, 'serial'],
    [{ serial: 'S-77', name: { ne: 'x' } }, 'name'],
  ]
  const modes = ['force_custom_plan', 'force_generic_plan']

  test.each(
    lists.flatMap(([filter, sort]) => modes.map((mode) => [JSON.stringify(filter), sort, mode] as const)),
  )('with filter %s and sort %s reads at most one page at any depth, with %s', async (filter, sort, mode) => {
    const problems = new Problems()
    const place = { in: 'query', path: '' } as const
    const conditions = readFilter(assets, JSON.parse(filter), place, problems)
    const terms = readSort(assets, sort, place, problems)
    const access = findAccessPath(assets, { conditions, sort: terms })
    expect(access).toMatchObject({ served: true })
    const asked = { selection: selectAllFields(assets), schema, conditions, sort: terms, access, limit }
    await sql.unsafe(`set plan_cache_mode = ${mode}`)
    const run = async (statement: { text: string; parameters: readonly (string | null)[] }, explain = '') =>
      sql.unsafe(`${explain}${statement.text}`, [...statement.parameters], { prepare: true })
    const halfway = { ...asked, limit: 2_000 }
    const [far] = (await run(listStatement(halfway))).slice(-1)
    const pages = [undefined, far && extractPosition({ ...far }, terms)]
    for (const after of pages) {
      const explained = await run(listStatement({ ...asked, after }), 'explain (analyze, format json) ')
      const [row] = z
        .array(z.looseObject({ 'QUERY PLAN': z.array(z.looseObject({ Plan: z.unknown() })) }))
        .parse([...explained])
      expect(readBy(row?.['QUERY PLAN'][0]?.Plan as Node)).toBeLessThanOrEqual(limit * 3)
    }
  })
})

describe('a list that no index serves', () => {
  const ask = (query: Record<string, string>) =>
    api.get(`/tables/assets/records?${new URLSearchParams(query)}`)

  it('is rejected with the index it needs, unless the request allows slow queries', async () => {
    const filter = '{"name":"Asset 3"}'
    expect((await ask({ filter, sort: 'quantity' })).error()).toMatchObject({
      code: 'validation_failed',
      details: [{ code: 'needs_index', message: 'Add an index on (name, quantity).' }],
    })
    const slow = (await ask({ filter, sort: 'quantity', slow: 'true', count: 'exact' })).page(StudioRecord)
    expect(slow.pagination.total).toBe(Math.ceil((rows - 2) / 977))
    expect((await ask({ q: 'asset' })).error().details).toMatchObject([{ code: 'needs_index' }])
  })

  it('is allowed for a small table', async () => {
    expect(
      (await api.get(`/tables/sites/records?filter=${encodeURIComponent('{"name":{"ne":"x"}}')}`)).status,
    ).toBe(200)
  })

  it('has an estimated count at no cost', async () => {
    const { total } = (await ask({ count: 'estimated' })).page(StudioRecord).pagination
    expect(Math.abs((total ?? 0) - rows)).toBeLessThan(rows / 20)
  })
})
