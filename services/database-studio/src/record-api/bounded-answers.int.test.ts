import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { QueryResult, RecordChange, StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, isLongTier, testPrincipal } from '@opsplane/testing'
import { z } from 'zod'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'

const mebibyte = 1_048_576
/** Large enough for several pages, and for more bytes than one answer may have. */
const [count, changes, atOnce] = isLongTier() ? [240, 60, 4] : [240, 48, 2]
const textBytes = 250_000
const textOf = (letter: string) => letter.repeat(textBytes)
const principal = testPrincipal()
const path = '/tables/large/records'
const large = TableState.parse({
  ...assets,
  slug: 'large',
  columns: [
    { name: 'key', type: 'text', unique: true },
    { name: 'text', type: 'text' },
    { name: 'n', type: 'integer' },
  ],
  indexes: [],
})

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient

/** Sockets to Postgres of this process, which includes the service. */
const sockets = new Set<Socket>()
const postgresPort = Number(new URL(process.env.TEST_DATABASE_URL ?? '').port)
const onSocket = (message: unknown) => {
  const { socket } = message as { socket: Socket }
  socket.once('connect', () => socket.remotePort === postgresPort && sockets.add(socket))
}
const bytesRead = () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0)

beforeAll(async () => {
  subscribe('net.client.socket', onSocket)
  at = await startStudio()
  api = at.studio.as(principal)
  await at.addTable(principal, large)
  const per = 40
  for (let from = 0; from < count; from += per) {
    const records = Array.from({ length: per }, (_, n) => ({ key: `k${from + n}`, text: textOf('x') }))
    expect((await api.post(`${path}/bulk`, { records })).status).toBe(201)
  }
})
afterAll(async () => {
  unsubscribe('net.client.socket', onSocket)
  await at?.studio.stop()
})

/** Bytes that the service read from Postgres during `work`. */
async function reading<T>(work: () => Promise<T>): Promise<{ found: T; bytes: number }> {
  const before = bytesRead()
  const found = await work()
  return { found, bytes: bytesRead() - before }
}

/** All pages of a list, and the maximum bytes the service read for one of them. */
async function pagesOf<Schema extends z.ZodType>(of: string, schema: Schema) {
  const items: z.infer<Schema>[] = []
  let most = 0
  for (let after = ''; ; ) {
    const { found, bytes } = await reading(() => api.get(`${of}&limit=200${after}`))
    const page = found.page(schema)
    items.push(...(page.items as z.infer<Schema>[]))
    most = Math.max(most, bytes)
    const { nextCursor } = page.pagination
    if (nextCursor === null) return { items, most }
    after = `&after=${nextCursor}`
  }
}

const run = (sql: string, more: object = {}) => api.post('/queries/run', { sql, ...more })
const written = 'insert into large (key, text)'

describe('an answer above the size limit is not read completely from Postgres', () => {
  it.each([
    ['rows of 20 MB', `select repeat('x', 20000000) as x from generate_series(1, 50)`, 0],
    ['a row of 100 MB', `select repeat('x', 100000000) as x`, 0],
    [
      'small rows before a large one',
      `select repeat('x', case n when 4 then 100000000 else 9 end) as x from generate_series(1, 9) n`,
      3,
    ],
    ['a page of 50 rows', `select repeat('x', 400000) as x from generate_series(1, 50) n`, 10],
  ])('by concurrent queries: %s', async (_, sql, rows) => {
    const { found, bytes } = await reading(() => Promise.all(Array.from({ length: atOnce }, () => run(sql))))
    for (const answer of found) {
      const result = answer.data(QueryResult)
      expect(result).toMatchObject({ truncated: 'bytes', rowCount: rows, columns: [{ name: 'x' }] })
    }
    expect(bytes).toBeLessThan(atOnce * 6 * mebibyte)
  })

  it.each([
    ['a write', `${written} select 'w' || n, repeat('x', 250000) from generate_series(1, 50) n returning *`],
    ['a write of one row', `update large set n = 1 where key = 'k1' returning repeat('x', 100000000)`],
  ])('by %s, which is rolled back with an error', async (_, sql) => {
    const { found, bytes } = await reading(() => run(sql, { mode: 'write' }))
    expect(found.error()).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/sql', code: 'answer_too_large' }],
    })
    expect(bytes).toBeLessThan(6 * mebibyte)
    const left = await run(`select count(*)::int as n, count(n)::int as changed from large`)
    expect(left.data(QueryResult).rows).toEqual([{ n: count, changed: 0 }])
  })

  it.each([
    ['of now', `${path}?sort=id`],
    ['of the past', `${path}?sort=id&asOf=2999-01-01T00:00:00Z`],
  ])('by a list %s, whose pages end at the size limit', async (_, list) => {
    const { items, most } = await pagesOf(list, StudioRecord)
    expect(items.map(({ key }) => key)).toEqual(Array.from({ length: count }, (__, n) => `k${n}`))
    expect(most).toBeLessThan(10 * mebibyte)
  })

  it('by the history of a record', async () => {
    const [record] = (await api.get(`${path}?fields=key&limit=1`)).page(StudioRecord).items
    for (let n = 0; n < changes; n++)
      await api.patch(`${path}/${record?.id}`, { text: textOf('abcd'[n % 4] ?? '') })
    const { items, most } = await pagesOf(`${path}/${record?.id}/history?`, RecordChange)
    expect(items).toHaveLength(changes + 1)
    expect(most).toBeLessThan(10 * mebibyte)
  })

  it('by an upsert whose answer is larger than its request, which writes nothing', async () => {
    const upsert = { on: ['key'], records: Array.from({ length: count }, (_, n) => ({ key: `k${n}`, n })) }
    const { found, bytes } = await reading(() => api.send('PUT', `${path}/bulk`, { body: upsert }))
    expect(found.error().code).toBe('payload_too_large')
    expect(bytes).toBeLessThan(34 * mebibyte)
    expect((await run('select count(n)::int as n from large')).data(QueryResult).rows).toEqual([{ n: 0 }])
  })

  it('by a migration', async () => {
    const up = `alter table large add column note text; update large set note = 'x' where key = 'k1' returning repeat('x', 20000000);`
    const made = (await api.post('/migrations', { name: 'large', up })).data(
      z.looseObject({ id: z.string() }),
    )
    const { found, bytes } = await reading(() => api.post(`/migrations/${made.id}/apply`, {}))
    expect(found.error()).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/up', code: 'answer_too_large' }],
    })
    expect(bytes).toBeLessThan(8 * mebibyte)
  })
})
