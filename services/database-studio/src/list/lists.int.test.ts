import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { type Filter, filterMatches, RecordChange, StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, seededRandom, testPrincipal } from '@opsplane/testing'
import type { z } from 'zod'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
const principal = testPrincipal()
const sites = TableState.parse({
  ...assets,
  slug: 'sites',
  columns: [
    { name: 'name', type: 'text', nullable: false },
    { name: 'parent', type: 'reference', table: 'sites' },
  ],
  indexes: [],
})
const path = '/tables/assets/records'
const listed = async (query: Record<string, string>, client = api) =>
  (await client.get(`${path}?${new URLSearchParams(query)}`)).page(StudioRecord)

/** The items of all pages of a list; `url` must already have a query string. */
async function allPages<Item extends z.ZodType>(item: Item, url: string): Promise<z.output<Item>[]> {
  const first = (await api.get(url)).page(item)
  const items = [...first.items]
  const seen = new Set<string>()
  for (let { nextCursor } = first.pagination; nextCursor !== null; ) {
    if (seen.has(nextCursor)) throw new Error(`${url} starts again`)
    seen.add(nextCursor)
    const page = (await api.get(`${url}&after=${nextCursor}`)).page(item)
    items.push(...page.items)
    nextCursor = page.pagination.nextCursor
  }
  return items
}

const random = seededRandom(11)
const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
let all: StudioRecord[]

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  await at.addTable(principal, sites)
  await at.addTable(principal, assets)
  const root = (await api.post('/tables/sites/records', { name: 'Europe' })).data(StudioRecord)
  const berlin = (await api.post('/tables/sites/records', { name: 'Berlin', parent: root.id })).data(
    StudioRecord,
  )
  const records = Array.from({ length: 120 }, (_, index) => ({
    name: oneOf(['Drill', 'Drum', 'drill', 'Säge', '50%_off', 'Z\u{1F600}']),
    serial: index % 3 === 0 ? null : `S-${String(index).padStart(3, '0')}`,
    quantity: Math.floor(random() * 5),
    price: oneOf([null, '1.00', '2.50', '10.00']),
    active: oneOf([true, false, null]),
    status: oneOf(['new', 'used', null]),
    extra: oneOf([null, { vip: true, size: 3, tags: ['a', 'b'] }, { vip: 'yes', size: 'L' }, ['a']]),
    site: index % 2 === 0 ? berlin.id : null,
  }))
  await api.post(`${path}/bulk`, { records })
  all = (await listed({ limit: '200', sort: 'id' })).items
})
afterAll(() => at?.studio.stop())

describe('a filter', () => {
  const conditions: Filter[] = [
    { name: 'Drill' },
    { name: { starts_with: 'Dr' } },
    { name: { contains: '%_' } },
    { name: { gt: 'Dz' } },
    { serial: null },
    { serial: { ne: 'S-001' } },
    { quantity: { gte: 2, lt: 4 } },
    { quantity: { in: [0, 4] } },
    { quantity: { nin: [0, 4] } },
    { active: true },
    { active: { ne: true } },
    { status: { in: ['new', null] } },
    { status: { nin: ['new', null] } },
    { status: { nin: ['new'] } },
    { 'extra.vip': true },
    { 'extra.vip': { ne: true } },
    { 'extra.size': { gt: 2 } },
    { 'extra.size': { starts_with: 'L' } },
    { 'extra.tags': { contains: 'b' } },
    { 'extra.size': { in: [3, 'L'] } },
    { extra: { contains: 'a' } },
    { createdAt: { gt: '2020-01-01T00:00:00.000Z' } },
  ]

  test.each(conditions.map((filter) => [JSON.stringify(filter)]))(
    '%s selects the same records as the evaluation in memory',
    async (filter) => {
      const expected = all.filter((record) => filterMatches(JSON.parse(filter), record)).map(({ id }) => id)
      const { items } = await listed({ filter, limit: '200', sort: 'id' })
      expect(items.map(({ id }) => id)).toEqual(expected)
      expect(expected.length).not.toBe(0)
    },
  )

  it('with several equal values finds a record once', async () => {
    const expected = all.filter(({ price }) => price === '1.00').map(({ id }) => id)
    const filter = JSON.stringify({ price: { in: ['1', '1.0'] } })
    const { items } = await listed({ filter, limit: '200', sort: 'id' })
    expect(items.map(({ id }) => id)).toEqual(expected)
    expect(expected.length).not.toBe(0)
  })

  it('may contain alternatives, and its matches are counted', async () => {
    const filter = JSON.stringify({ quantity: 1, or: [{ status: 'new' }, { price: { gte: '2.50' } }] })
    const expected = all.filter(
      (one) => one.quantity === 1 && (one.status === 'new' || Number(one.price) >= 2.5),
    )
    const { items, pagination } = await listed({ filter, limit: '200', sort: 'id', count: 'exact' })
    expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    expect(pagination.total).toBe(expected.length)
    expect((await listed({ filter, count: 'estimated' })).pagination.total).toEqual(expect.any(Number))
  })
})

describe('a sort', () => {
  test.each([
    '-id',
    'serial',
    '-serial',
    'price,-name',
    '-status,quantity',
    'active,serial',
    '-createdAt',
    'seen_at',
  ])('by %s pages through all records once and in order', async (sort) => {
    const whole = (await listed({ sort, limit: '200', slow: 'true' })).items.map(({ id }) => id)
    const pages = await allPages(StudioRecord, `${path}?${new URLSearchParams({ sort, limit: '7' })}`)
    expect(pages.map(({ id }) => id)).toEqual(whole)
    expect(new Set(whole).size).toBe(all.length)
  })

  it('by a reference that is expanded also pages through all records', async () => {
    const asked = { sort: 'site', expand: 'site', fields: 'name,site', slow: 'true' }
    const whole = (await listed({ ...asked, limit: '200' })).items.map(({ id }) => id)
    const pages = await allPages(StudioRecord, `${path}?${new URLSearchParams({ ...asked, limit: '7' })}`)
    expect(pages.map(({ id }) => id)).toEqual(whole)
    expect(new Set(whole).size).toBe(all.length)
  })

  it('has a cursor that is rejected for any other sort, workspace or environment', async () => {
    const { nextCursor } = (await listed({ sort: 'serial', limit: '5' })).pagination
    const refused = await api.get(
      `${path}?${new URLSearchParams({ sort: 'price', after: nextCursor ?? '' })}`,
    )
    expect(refused.error().code).toBe('invalid_cursor')
    const staging = { ...principal, environment: 'staging' as const }
    const other = at.studio.as(staging)
    await at.addTable(staging, sites)
    await at.addTable(staging, assets)
    const theirs = await other.get(
      `${path}?${new URLSearchParams({ sort: 'serial', limit: '5', after: nextCursor ?? '' })}`,
    )
    expect(theirs.error().code).toBe('invalid_cursor')
  })

  it('merges the rows that are read for each of several values of a column', async () => {
    const filter = JSON.stringify({ status: { in: ['new', 'used'] } })
    const whole = (await listed({ filter, sort: '-quantity', limit: '200' })).items.map(({ id }) => id)
    const pages = await allPages(
      StudioRecord,
      `${path}?${new URLSearchParams({ filter, sort: '-quantity', limit: '9' })}`,
    )
    expect(pages.map(({ id }) => id)).toEqual(whole)
    expect(whole).toHaveLength(all.filter(({ status }) => status !== null).length)
  })
})

describe('the answer of a list', () => {
  it('contains the requested fields, and references expanded to records', async () => {
    const { items } = await listed({
      fields: 'name,site',
      expand: 'site,site.parent',
      sort: '-quantity',
      limit: '3',
      filter: '{"site":{"exists":true}}',
    })
    for (const item of items) {
      expect(Object.keys(item).toSorted()).toEqual(['id', 'name', 'site', 'version'])
      expect(item.site).toMatchObject({ name: 'Berlin', parent: { name: 'Europe', parent: null } })
    }
    expect(items).toHaveLength(3)
    const one = (await api.get(`${path}/${items[0]?.id}?expand=site`)).data(StudioRecord)
    expect(one.site).toMatchObject({ name: 'Berlin', parent: expect.stringMatching(/^rec_/) })
    const wrong = await api.get(`${path}?expand=name&fields=nothing`)
    expect(wrong.error().details.map((detail) => detail.path)).toEqual(['/fields', '/expand'])
    expect((await api.get(`${path}?expand=name`)).error().details).toMatchObject([{ path: '/expand' }])
  })

  it('contains the records that match a part of a text', async () => {
    const { items } = await listed({ q: 'säg', limit: '200' })
    expect(items.map(({ name }) => name)).toEqual(items.map(() => 'Säge'))
    expect(items.length).toBeGreaterThan(0)
  })
})

describe('a past state', () => {
  const now = async () =>
    (
      await at.studio
        .sql`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`
    )[0]?.now as string
  /** Waits so that the next change gets a later millisecond. */
  const passed = async (instant: string) => {
    while ((await now()) <= instant);
  }

  it("of a record is returned, together with the record's history", async () => {
    const made = (await api.post(path, { name: 'Then', quantity: 1 })).data(StudioRecord)
    const first = await now()
    await passed(first)
    await api.patch(`${path}/${made.id}`, { quantity: 2 })
    const second = await now()
    await passed(second)
    await api.send('DELETE', `${path}/${made.id}`)
    const history = (await api.get(`${path}/${made.id}/history`)).page(RecordChange).items
    expect(history.map(({ type }) => type)).toEqual(['record.deleted', 'record.updated', 'record.created'])
    expect(history[1]).toMatchObject({
      changes: ['version', 'updatedAt', 'quantity'],
      before: { quantity: 1 },
      after: { quantity: 2 },
      actor: principal.actor,
    })
    const asOf = (instant: string) => api.get(`${path}/${made.id}?asOf=${instant}`)
    expect((await asOf(first)).data(StudioRecord)).toEqual(made)
    expect((await asOf(second)).data(StudioRecord)).toMatchObject({ quantity: 2, version: 2 })
    expect((await asOf(new Date(Date.parse(made.createdAt ?? '') - 1).toISOString())).status).toBe(404)
    expect((await asOf('2999-01-01T00:00:00.000Z')).status).toBe(404)
    const pages = await allPages(RecordChange, `${path}/${made.id}/history?limit=1`)
    expect(pages.map(({ type }) => type)).toEqual(history.map(({ type }) => type))
  })

  it('of a list contains the records that matched at that time', async () => {
    const before = (await listed({ limit: '200' })).items
    const then = await now()
    await passed(then)
    await api.patch(`${path}/bulk`, { filter: { quantity: { gte: 0 } }, set: { status: 'used' } })
    const asOf = async (query: Record<string, string>) => {
      const found = await allPages(
        StudioRecord,
        `${path}?${new URLSearchParams({ ...query, asOf: then, limit: '50' })}`,
      )
      return found.map(({ id }) => id)
    }
    expect(await asOf({})).toEqual(before.map(({ id }) => id))
    const matching = before.filter(({ status }) => status === 'new').map(({ id }) => id)
    expect(await asOf({ filter: '{"status":"new"}', sort: 'id' })).toEqual(matching.toReversed())
    expect(matching.length).toBeGreaterThan(0)
    expect(
      (await api.get(`${path}?asOf=${then}&sort=name&q=x`)).error().details.map((one) => one.path),
    ).toEqual(['/q', '/sort'])
  })
})
