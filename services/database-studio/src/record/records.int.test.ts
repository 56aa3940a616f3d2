import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { z } from 'zod'
import { assets } from './assets.fixture.js'
import { startStudio } from './studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
const principal = testPrincipal()
const sites = TableState.parse({
  ...assets,
  slug: 'sites',
  columns: [{ name: 'name', type: 'text', nullable: false, unique: true }],
  indexes: [],
})
const Loose = z.looseObject({})

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  await at.addTable(principal, sites)
  await at.addTable(principal, assets)
})
afterAll(() => at?.studio.stop())

const path = '/tables/assets/records'

describe('a record', () => {
  it('is created with its defaults, read, changed and deleted', async () => {
    const site = (await api.post('/tables/sites/records', { name: 'Berlin' })).data(StudioRecord)
    const body = {
      ...{ name: 'Drill', serial: 'A-17', counter: '9007199254740993', price: '12.5', active: true },
      ...{ bought_on: '2026-03-02', seen_at: '2026-03-02T11:00:00+01:00', extra: { vip: [1, null] } },
      ...{ token: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', status: 'new', site: site.id },
    }
    const made = await api.post(path, body)
    expect(made.status).toBe(201)
    expect(made.headers.get('etag')).toBe('"1"')
    const record = made.data(StudioRecord)
    expect(record).toEqual({
      ...body,
      ...{
        id: expect.stringMatching(/^rec_/),
        version: 1,
        createdAt: record.createdAt,
        updatedAt: record.createdAt,
      },
      ...{ quantity: 1, price: '12.50', seen_at: '2026-03-02T10:00:00.000Z', label: 'DRILL' },
      token: body.token.toLowerCase(),
    })
    expect(made.headers.get('location')).toBe(`${path}/${record.id}`)
    expect((await api.get(`${path}/${record.id}`)).data(StudioRecord)).toEqual(record)
    const changed = (await api.patch(`${path}/${record.id}`, { quantity: 3 })).data(StudioRecord)
    expect(changed).toEqual({ ...record, quantity: 3, version: 2, updatedAt: changed.updatedAt })
    expect((await api.patch(`${path}/${record.id}`, { quantity: 3 })).data(StudioRecord)).toEqual(changed)
    expect((await api.patch(`${path}/${record.id}`, {})).data(StudioRecord)).toEqual(changed)
    expect((await api.send('DELETE', `${path}/${record.id}`)).status).toBe(204)
    expect((await api.get(`${path}/${record.id}`)).status).toBe(404)
    expect((await api.send('DELETE', `${path}/${record.id}`)).status).toBe(404)
    const events = await at.studio.sql`select type, data->'changes' as changes from events
      where resource->>'id' = ${record.id} order by position`
    expect(events.map(({ type }) => type)).toEqual(['record.created', 'record.updated', 'record.deleted'])
  })

  it('is changed only at the version in If-Match', async () => {
    const { id } = (await api.post(path, { name: 'Saw' })).data(StudioRecord)
    const stale = { 'if-match': '"7"' }
    expect((await api.patch(`${path}/${id}`, { name: 'x' }, stale)).status).toBe(412)
    expect((await api.patch(`${path}/${id}`, {}, stale)).status).toBe(412)
    expect((await api.send('DELETE', `${path}/${id}`, { headers: stale })).status).toBe(412)
    expect(
      (await api.patch(`${path}/${id}`, { name: 'x' }, { 'if-match': '"1"' })).data(StudioRecord).version,
    ).toBe(2)
  })

  test.each<[string, object, number, string, string]>([
    ['breaks a type', { name: 'a', quantity: 'x' }, 422, '/quantity', 'validation_failed'],
    ['lacks a column', {}, 422, '/name', 'validation_failed'],
    ['has a taken key', { name: 'a', serial: 'taken' }, 409, '/serial', 'conflict'],
    ['refers to nothing', { name: 'a', site: 'rec_none' }, 422, '/site', 'validation_failed'],
  ])('that %s is rejected with the path of the field', async (_, body, status, field, code) => {
    await api.post(path, { name: 'taken', serial: 'taken' })
    const answer = await api.post(path, body)
    expect(answer.status).toBe(status)
    expect(answer.error()).toMatchObject({ code, details: [{ path: field }] })
  })

  it('is not deleted while others refer to it', async () => {
    const site = (await api.post('/tables/sites/records', { name: 'Bonn' })).data(StudioRecord)
    await api.post(path, { name: 'a', site: site.id })
    const answer = await api.send('DELETE', `/tables/sites/records/${site.id}`)
    expect(answer.error()).toMatchObject({ code: 'conflict' })
  })

  it('is created once for an Idempotency-Key, and returned by both requests', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await api.post(path, { name: 'Once' }, key)
    const second = await api.post(path, { name: 'Once' }, key)
    expect(second.data(StudioRecord)).toEqual(first.data(StudioRecord))
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect((await api.post(path, { name: 'Other' }, key)).error().code).toBe('idempotency_key_reused')
    const found = await api.get(`${path}?filter=${encodeURIComponent('{"name":"Once"}')}`)
    expect(found.page(StudioRecord).items).toHaveLength(1)
  })

  it('is not found from another workspace or environment', async () => {
    const { id } = (await api.post(path, { name: 'Mine' })).data(StudioRecord)
    const others = [testPrincipal(), { ...principal, environment: 'staging' as const }]
    for (const other of others) {
      await at.addTable(other, sites)
      await at.addTable(other, assets)
      const theirs = at.studio.as(other)
      expect((await theirs.get(path)).page(StudioRecord).items).toEqual([])
      expect((await theirs.get(`${path}/${id}`)).status).toBe(404)
      expect((await theirs.get(`${path}/${id}/history`)).status).toBe(404)
      expect((await theirs.get(`${path}/${id}?asOf=2099-01-01T00:00:00Z`)).status).toBe(404)
      expect((await theirs.patch(`${path}/${id}`, { name: 'x' })).status).toBe(404)
      expect((await theirs.get('/tables/unknown/records')).status).toBe(404)
      expect((await theirs.send('DELETE', `${path}/${id}`)).status).toBe(404)
      const filter = { id: { in: [id] } }
      const matched = await theirs.patch(`${path}/bulk`, { filter, set: { name: 'x' } })
      expect(matched.data(Loose)).toMatchObject({ count: 0 })
      const removed = await theirs.send('DELETE', `${path}/bulk`, { body: { filter } })
      expect(removed.data(Loose)).toMatchObject({ count: 0 })
      const operations = [{ op: 'delete', table: 'assets', id }]
      expect((await theirs.post('/tables/batch', { operations })).status).toBe(422)
      expect((await theirs.get(`${path}/export?format=ndjson`)).text).toBe('')
      expect((await theirs.get(`${path}?asOf=2099-01-01T00:00:00Z`)).page(StudioRecord).items).toEqual([])
      const site = (
        await api.post('/tables/sites/records', { name: `Of ${other.workspaceId} ${other.environment}` })
      ).data(StudioRecord)
      expect((await theirs.post(path, { name: 'x', site: site.id })).error().details).toMatchObject([
        { path: '/site' },
      ])
    }
  })
})

describe('records that are created concurrently', () => {
  it('share statements, and are answered, rejected and journaled individually', async () => {
    const actors = Array.from({ length: 3 }, (_, n) => ({
      ...principal,
      actor: { id: `usr_${n}`, name: `Actor ${n}`, type: 'user' as const },
    }))
    const clients = actors.map((one) => at.studio.as(one))
    const transactions = async () =>
      (
        await at.studio.sql`select count(distinct xmin::text)::int as count, count(*)::int as made from events
        where data->'after'->>'name' = 'At once'`
      )[0]
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        clients[n % 3]?.post(path, { name: 'At once', serial: `o-${n === 59 ? 7 : n}`, quantity: n }),
      ),
    )
    const refused = answers.filter((answer) => answer?.status !== 201)
    expect(refused.map((answer) => answer?.error())).toEqual([
      expect.objectContaining({ code: 'conflict', details: [expect.objectContaining({ path: '/serial' })] }),
    ])
    for (const [n, answer] of answers.entries()) {
      if (answer?.status !== 201) continue
      const { id, ...record } = answer.data(StudioRecord)
      expect(record).toMatchObject({ name: 'At once', quantity: n, version: 1 })
      const [event] = await at.studio.sql`select actor, request_id from events where resource->>'id' = ${id}`
      expect(event).toEqual({
        actor: actors[n % 3]?.actor,
        request_id: answer.headers.get('x-request-id'),
      })
    }
    const { count, made } = (await transactions()) as { count: number; made: number }
    expect(made).toBe(59)
    expect(count).toBeLessThan(59)
  })
})

it('a record that waits for the unique key of another request blocks no request behind it', async () => {
  const other = postgres(at.studio.adminUrl, { max: 1, onnotice: () => {} })
  const [space] = await at.studio
    .sql`select schema_name as schema from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  await other.unsafe(`begin; insert into ${space?.schema}.assets (name, serial) values ('Held', 'held')`)
  const waiting = api.post(path, { name: 'Waits', serial: 'held' })
  await waitFor(async () => {
    const blocked = await at.studio
      .sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%assets%'`
    return blocked.length > 0
  })
  const behind = await Promise.all(
    Array.from({ length: 40 }, (_, n) => api.post(path, { name: 'Goes', serial: `goes-${n}` })),
  )
  expect(new Set(behind.map(({ status }) => status))).toEqual(new Set([201]))
  await other.unsafe('rollback')
  expect((await waiting).status).toBe(201)
  await other.end()
})

describe('many records', () => {
  it('are created in one request, all or none', async () => {
    const records = Array.from({ length: 500 }, (_, index) => ({
      name: `Bulk ${index}`,
      ...(index % 2 && { quantity: 7 }),
    }))
    const made = (await api.post(`${path}/bulk`, { records })).data(
      z.object({ count: z.number(), records: z.array(StudioRecord) }),
    )
    expect(made.records.map(({ name }) => name)).toEqual(records.map(({ name }) => name))
    expect(made.records.map(({ quantity }) => quantity).slice(0, 2)).toEqual([1, 7])
    const bad = records.with(321, { name: 'x'.repeat(41) })
    expect((await api.post(`${path}/bulk`, { records: bad })).error().details).toMatchObject([
      { path: '/records/321/name' },
    ])
    const twice = [
      { name: 'a', serial: 'same' },
      { name: 'b', serial: 'same' },
    ]
    expect((await api.post(`${path}/bulk`, { records: twice })).status).toBe(409)
    const left = await api.get(`${path}?count=exact&filter=${encodeURIComponent('{"serial":"same"}')}`)
    expect(left.page(Loose).pagination.total).toBe(0)
  })

  it('are changed and deleted by a filter, within its limit, and with a dry run', async () => {
    await api.post(`${path}/bulk`, {
      records: Array.from({ length: 5 }, () => ({ name: 'Match', status: 'new' })),
    })
    const filter = { name: 'Match' }
    const change = (body: object) => api.patch(`${path}/bulk`, { filter, set: { status: 'used' }, ...body })
    expect((await change({ limit: 4 })).error().details).toMatchObject([{ path: '/limit' }])
    expect((await change({ dryRun: true })).data(Loose)).toMatchObject({ count: 5, dryRun: true })
    expect((await change({})).data(Loose)).toMatchObject({ count: 5 })
    expect((await change({ set: { quantity: null } })).error().details).toMatchObject([
      { path: '/set/quantity' },
    ])
    const remove = (body: object) => api.send('DELETE', `${path}/bulk`, { body: { filter, ...body } })
    expect((await remove({ dryRun: true })).data(Loose)).toMatchObject({ count: 5 })
    expect((await remove({})).data(Loose)).toMatchObject({ count: 5, dryRun: false })
    expect((await remove({})).data(Loose)).toMatchObject({ count: 0 })
  })

  it('are created or updated by a unique column', async () => {
    const put = (body: object) => api.send('PUT', `${path}/bulk`, { body })
    const records = [
      { name: 'One', serial: 'u-1' },
      { name: 'Two', serial: 'u-2' },
    ]
    expect((await put({ on: ['serial'], records })).data(Loose)).toMatchObject({ created: 2, updated: 0 })
    const again = [
      { name: 'Uno', serial: 'u-1' },
      { name: 'Three', serial: 'u-3' },
    ]
    expect((await put({ on: ['serial'], records: again })).data(Loose)).toMatchObject({
      created: 1,
      updated: 1,
    })
    const priced = [
      { name: 'One', serial: 'u-1', price: '1.00' },
      { name: 'Two', serial: 'u-2', price: '2.00' },
    ]
    await put({ on: ['serial'], records: priced })
    await put({ on: ['serial'], records: [{ ...priced[0], price: '3.00' }, records[1]] })
    const filter = encodeURIComponent('{"serial":{"in":["u-1","u-2"]}}')
    const { items } = (await api.get(`${path}?sort=serial&filter=${filter}`)).page(StudioRecord)
    expect(items.map(({ price }) => price)).toEqual(['3.00', '2.00'])
    expect((await put({ on: ['name'], records })).error().details).toMatchObject([{ path: '/on' }])
    expect((await put({ on: ['serial'], records: [records[0], records[0]] })).status).toBe(422)
  })

  it('of several tables are written in one transaction', async () => {
    const Results = z.object({
      results: z.array(z.looseObject({ id: z.string(), record: StudioRecord.nullable() })),
    })
    const operations = [
      { op: 'create', table: 'sites', as: 'there', data: { name: 'Ulm' } },
      { op: 'create', table: 'assets', as: 'it', data: { name: 'Lathe', site: { $as: 'there' } } },
      { op: 'update', table: 'assets', id: '$as:it', version: 1, data: { quantity: 9 } },
    ]
    const dry = (await api.post('/tables/batch', { operations, dryRun: true })).data(Results).results
    expect((await api.get(`${path}/${dry[1]?.id}`)).status).toBe(404)
    const { results } = (await api.post('/tables/batch', { operations })).data(Results)
    expect(results[2]?.record).toMatchObject({ name: 'Lathe', quantity: 9, version: 2, site: results[0]?.id })
    const ids = results.map(({ id }) => id)
    const failing = [
      { op: 'delete', table: 'assets', id: ids[1] },
      { op: 'update', table: 'sites', id: 'rec_none', data: { name: 'x' } },
    ]
    expect((await api.post('/tables/batch', { operations: failing })).error().details).toMatchObject([
      { path: '/operations/1/id' },
    ])
    expect((await api.get(`${path}/${ids[1]}`)).status).toBe(200)
    const unknown = [{ op: 'delete', table: 'nothing', id: 'x' }]
    expect((await api.post('/tables/batch', { operations: unknown })).error().details).toMatchObject([
      { path: '/operations/0/table' },
    ])
  })
})
