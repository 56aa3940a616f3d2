import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Download, Export, ExportLink, type NewExport, type Permission } from '@opsplane/contracts'
import {
  type ApiClient,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import type { z } from 'zod'
import { analytics } from '../service.js'
import { type Neighbours, recordId, sampleRecord, startNeighbours } from './export.fixture.js'

let neighbours: Neighbours
let service: TestService
const ada = testPrincipal()
const strangerOf = (letter: string) => {
  const userId = `usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0${letter}`
  return testPrincipal({
    ...{ userId, actor: { id: userId, name: 'Bob', type: 'user' } },
    ...(ada.workspaceId && { workspaceId: ada.workspaceId }),
  })
}
let api: ApiClient

beforeAll(async () => {
  neighbours = await startNeighbours()
  service = await startTestService(analytics, {
    env: {
      SERVICE_URLS: JSON.stringify({ settings: neighbours.url, 'database-studio': neighbours.url }),
      EXPORT_PART_BYTES: '16384',
      // Each part is a slice.
      EXPORT_SLICE_MS: '1',
      PUBLIC_ORIGIN: 'https://opsplane.example.com',
      WORKSPACE_LIMITS: JSON.stringify({ ws_small: { exportBytes: 50_000, exports: 1 } }),
    },
  })
  api = service.as(ada)
})
afterAll(async () => {
  await service?.stop()
  await neighbours?.stop()
})
afterEach(() => {
  Object.assign(neighbours, { cutAfter: 0, count: 3_000, stuck: false, stuckAt: null, granted: true })
  neighbours.rights.clear()
})

const assets = { records: { table: 'assets' } } as const
const begin = async (wanted: Partial<z.input<typeof NewExport>> = {}, as = api) =>
  (await as.post('/analytics/exports', { source: assets, ...wanted })).data(Export)
const shown = async (id: string, as = api) => (await as.get(`/analytics/exports/${id}`)).data(Export)
const ended = (id: string, as = api) =>
  waitFor(async () => {
    const one = await shown(id, as)
    return one.status !== 'pending' && one
  })
const made = async (wanted: Partial<z.input<typeof NewExport>> = {}) => ended((await begin(wanted)).id)
const linkTo = async (id: string, query = '', as = api) =>
  (await as.get(`/analytics/exports/${id}/download${query}`)).data(Download)
/** The request as forwarded by the gateway, without authentication. */
const fetched = async (url: string, headers: Record<string, string> = {}) => {
  const path = new URL(url).pathname
  return fetch(`${service.url}/origin${path}`, { headers: { ...(await service.headers()), ...headers } })
}
const sha256 = (bytes: ArrayBuffer) => createHash('sha256').update(Buffer.from(bytes)).digest('hex')
const objectsOf = (id: string) => service.sql`select name from export_objects where export_id = ${id}`

describe('an export', () => {
  it.each(['csv', 'ndjson', 'json', 'xlsx', 'parquet'] as const)(
    'as %s contains all rows',
    async (format) => {
      const { status, file } = await made({ format, name: 'Assets / 2026 ü' })
      expect([status, file?.rows, file?.warnings]).toEqual(['completed', 3_000, []])
      expect(file?.name).toBe(`Assets 2026 ü.${format}`)
    },
  )

  it('emits an event when it completes, and can be downloaded without a login', async () => {
    const recorder = await recordEvents(service.natsPrefix)
    const { id, file, expiresAt } = await made({ format: 'ndjson', name: 'Inventar für März' })
    const link = await linkTo(id)
    expect(link.url).toMatch(/^https:\/\/opsplane\.example\.com\/downloads\/lnk_/)
    const answer = await fetched(link.url)
    const content = await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-length': String(file?.bytes),
      'content-disposition': `attachment; filename="Inventar f_r M_rz.ndjson"; filename*=UTF-8''Inventar%20f%C3%BCr%20M%C3%A4rz.ndjson`,
      etag: `"${file?.sha256}"`,
    })
    expect([content.byteLength, sha256(content)]).toEqual([file?.bytes, file?.sha256])
    const lines = Buffer.from(content).toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(
      Array.from({ length: 3_000 }, (_, at) => recordId(at)),
    )
    expect(JSON.parse(lines[7] ?? '')).toEqual(sampleRecord(7))
    expect((await objectsOf(id)).length).toBeGreaterThan(2)
    expect(Date.parse(expiresAt ?? '') - Date.now()).toBeGreaterThan(6 * 86_400_000)
    const types = () =>
      recorder.published.filter(({ event }) => event.resource.id === id).map(({ event }) => event.type)
    await waitFor(() => types().length >= 2)
    await recorder.stop()
    expect(types()).toEqual(['export.created', 'export.completed'])
  })

  it('continues after its last written part when the source interrupts its rows', async () => {
    neighbours.cutAfter = 2_500
    neighbours.count = 6_000
    const before = neighbours.asked
    const { id } = await begin({ format: 'csv' })
    const { file } = await ended(id)
    const content = Buffer.from(await (await fetched((await linkTo(id)).url)).arrayBuffer())
    expect(neighbours.asked - before).toBeGreaterThan(1)
    expect(createHash('sha256').update(content).digest('hex')).toBe(file?.sha256)
    const ids = content
      .toString()
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0])
    expect(ids).toEqual(Array.from({ length: 6_000 }, (_, at) => recordId(at)))
  })

  it('of another workspace is processed between the slices of long exports', async () => {
    neighbours.count = 8_000
    const long = [await begin({ format: 'csv' }), await begin({ format: 'csv' })]
    await waitFor(async () => {
      const counts = await Promise.all(long.map(({ id }) => objectsOf(id)))
      return counts.every(({ length }) => length > 0)
    })
    const other = service.as(testPrincipal())
    const query = { dataset: 'incidents', measures: ['incidents'] }
    const short = await begin({ source: { query }, format: 'csv' }, other)
    expect((await ended(short.id, other)).status).toBe('completed')
    for (const { id } of long) expect((await ended(id)).file?.rows).toBe(8_000)
    const order = await service.sql<{ id: string }[]>`
      select stream_id as id from events where type = 'export.completed' order by position desc limit 3`
    expect(order.map(({ id }) => id).at(-1)).toBe(short.id)
  })

  it('fails with the reason when its owner may no longer read the rows', async () => {
    neighbours.rights.set(ada.userId, null)
    expect(await made()).toMatchObject({
      status: 'failed',
      error: { code: 'forbidden', message: 'Its owner is no longer a member of the workspace.' },
    })
    neighbours.rights.clear()
    neighbours.cutAfter = 1
    const { id } = await begin()
    await waitFor(async () => (await shown(id)).progress.attempts > 0)
    neighbours.granted = false
    const { status, error } = await ended(id)
    expect([status, error?.code]).toEqual(['failed', 'invalid_token'])
    const refused = await api.get(`/analytics/exports/${id}/download`)
    expect(refused.error()).toMatchObject({
      code: 'conflict',
      message: 'The export is failed: it has no file.',
    })
  })

  it('can be cancelled while it is written, and leaves nothing behind', async () => {
    // Parts are written in the meantime, and the export is not finished before it is cancelled.
    Object.assign(neighbours, { count: 20_000, stuckAt: 10_000 })
    const { id } = await begin()
    await waitFor(async () => (await shown(id)).progress.parts > 0)
    const cancelled = (await api.post(`/analytics/exports/${id}/cancel`, {})).data(Export)
    expect(cancelled.status).toBe('cancelled')
    neighbours.stuckAt = null
    await waitFor(async () => (await objectsOf(id)).length === 0)
    expect((await shown(id)).status).toBe('cancelled')
    const again = await api.post(`/analytics/exports/${id}/cancel`, {})
    expect(again.error().code).toBe('invalid_state_transition')
  })

  it('is deleted together with its file and its download URLs', async () => {
    const { id } = await made()
    const { url } = await linkTo(id)
    expect((await fetched(url)).status).toBe(200)
    expect((await api.send('DELETE', `/analytics/exports/${id}`)).status).toBe(204)
    expect((await fetched(url)).status).toBe(404)
    expect((await api.get(`/analytics/exports/${id}`)).status).toBe(404)
    await waitFor(async () => (await objectsOf(id)).length === 0)
    expect(await service.sql`select 1 from export_jobs where id = ${id}`).toHaveLength(0)
  })

  it('expires at its due time, and its file and download URLs are deleted', async () => {
    const [{ id }, other] = [await made(), await made()]
    const { url } = await linkTo(id)
    await service.sql`update export_jobs set due_at = now() where id = ${id}`
    // Any request that wakes the worker.
    expect((await api.send('DELETE', `/analytics/exports/${other.id}`)).status).toBe(204)
    await waitFor(async () => (await shown(id)).status === 'expired')
    expect((await fetched(url)).status).toBe(404)
    await waitFor(async () => (await objectsOf(id)).length === 0)
  })

  it('fails above the byte quota of its workspace, and is rejected above the quota of pending exports', async () => {
    const small = service.as(testPrincipal({ workspaceId: 'ws_small' }))
    neighbours.count = 20_000
    neighbours.stuck = true
    const { id } = await begin({}, small)
    const second = await small.post('/analytics/exports', { source: assets })
    expect(second.error().code).toBe('quota_exceeded')
    neighbours.stuck = false
    const { status, error } = await ended(id, small)
    expect([status, error?.code]).toEqual(['failed', 'quota_exceeded'])
    expect(error?.message).toContain('50000 bytes')
  })

  it('grouped by day has local dates with their time zone, and the requested CSV options', async () => {
    const query = {
      ...{ table: 'assets', measures: ['count', 'sum:price'], grain: 'day' as const, timeField: 'bought' },
      ...{ timeZone: 'Europe/Berlin', range: { from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' } },
    }
    neighbours.count = 3
    const { id, file, ...state } = await made({ source: { query }, delimiter: ';', bom: true })
    expect(state).toMatchObject({ status: 'completed', delimiter: ';', bom: true })
    const bytes = await (await fetched((await linkTo(id)).url)).arrayBuffer()
    expect(Buffer.from(bytes).toString()).toBe(
      '\ufefftime;timeZone;count;sum:price\r\n2026-01-31;Europe/Berlin;3;4.5\r\n',
    )
    expect(file?.columns.map(({ type }) => type)).toEqual(['date', 'text', 'integer', 'decimal'])
  })

  it('is rejected with the path of the invalid field, or without the permission', async () => {
    const refused = async (body: unknown) =>
      (await api.post('/analytics/exports', body)).error().details.map(({ path }) => path)
    expect(await refused({})).toContain('/source')
    expect(await refused({ source: assets, format: 'pdf' })).toEqual(['/format'])
    expect((await api.get(`/analytics/exports/exp_1`)).status).toBe(404)
    const reader = service.as(testPrincipal({ permissions: ['analytics:read'] as Permission[] }))
    const denied = await reader.post('/analytics/exports', { source: assets })
    expect(denied.error().code).toBe('insufficient_scope')
  })

  it('is created once for repeated requests with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'export-once' }
    const [first, second] = [
      (await api.post('/analytics/exports', { source: assets }, headers)).data(Export),
      (await api.post('/analytics/exports', { source: assets }, headers)).data(Export),
    ]
    expect(second.id).toBe(first.id)
    const listed = (await api.get('/analytics/exports?limit=200&format=csv')).page(Export).items
    expect(listed.filter(({ id }) => id === first.id)).toHaveLength(1)
  })
})

describe('a download URL', () => {
  let one: Export
  let link: Download
  beforeAll(async () => {
    one = await made({ format: 'csv' })
    link = await linkTo(one.id)
  })
  const whole = async () => Buffer.from(await (await fetched(link.url)).arrayBuffer())

  it('serves any range of the file, including ranges that span several parts', async () => {
    const content = await whole()
    const sizes = await service.sql<{ bytes: number }[]>`
      select bytes::int4 as bytes from export_objects where export_id = ${one.id} order by part`
    const first = sizes[0]?.bytes ?? 0
    const ranges = [
      [0, 0],
      [first - 10, first + 10],
      [5, content.length - 6],
      [content.length - 1, content.length - 1],
    ]
    for (const [from = 0, to = 0] of ranges) {
      const answer = await fetched(link.url, { range: `bytes=${from}-${to}` })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${to}/${content.length}`,
      ])
      expect(Buffer.from(await answer.arrayBuffer()).equals(content.subarray(from, to + 1))).toBe(true)
    }
    const beyond = await fetched(link.url, { range: `bytes=${content.length}-` })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
    const other = await fetched(link.url, { range: 'bytes=0-1', 'if-range': '"another"' })
    expect(other.status).toBe(200)
  })

  it('returns 304 to a client that already has the file', async () => {
    const answer = await fetched(link.url, { 'if-none-match': `"${one.file?.sha256}"` })
    expect([answer.status, await answer.text()]).toEqual([304, ''])
  })

  it('returns the same 404 when it was changed, forged or combined with that of another export', async () => {
    const token = link.url.slice(link.url.lastIndexOf('/') + 1)
    const [id = '', expires = '', mac = ''] = token.split('.')
    const flipped = `${mac.slice(0, -2)}${mac.endsWith('AA') ? 'BB' : 'AA'}`
    const other = await linkTo((await made()).id)
    const otherId = other.url.slice(other.url.lastIndexOf('/') + 1).split('.')[0]
    const tokens = [
      `${id}.${Number(expires) + 1}.${mac}`,
      `${otherId}.${expires}.${mac}`,
      `${id}.${expires}.${flipped}`,
      `${id}.${expires}`,
      id,
      'x'.repeat(500),
    ]
    for (const changed of tokens) {
      const answer = await fetched(`https://x/downloads/${changed}`)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({
        error: { code: 'not_found', message: 'This link is not valid, or not any more.' },
      })
    }
  })

  it('expires at its time, which is never later than the expiry of the file', async () => {
    const { expiresAt } = await linkTo(one.id, '?expiresInSeconds=604800')
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.parse(one.expiresAt ?? ''))
    const old = testLink(Math.floor(Date.now() / 1_000) - 1)
    expect((await fetched(old)).status).toBe(404)
    expect((await api.get(`/analytics/exports/${one.id}/download?expiresInSeconds=5`)).status).toBe(422)
  })
  const testLink = (expires: number) => {
    const token = link.url.slice(link.url.lastIndexOf('/') + 1).split('.')
    return `https://x/downloads/${token[0]}.${expires}.${token[2]}`
  }

  it('can be revoked alone or with all others, and is listed with its number of downloads', async () => {
    const { id } = await made()
    const urls = [await linkTo(id), await linkTo(id), await linkTo(id)]
    const statuses = () => Promise.all(urls.map(async ({ url }) => (await fetched(url)).status))
    expect(await statuses()).toEqual([200, 200, 200])
    const links = `/analytics/exports/${id}/links`
    expect((await api.send('DELETE', `${links}/${urls[0]?.linkId}`)).status).toBe(204)
    expect(await statuses()).toEqual([404, 200, 200])
    const page = (await api.get(`${links}?limit=2`)).page(ExportLink)
    expect(page.items.map(({ downloads }) => downloads)).toEqual([2, 2])
    const rest = (await api.get(`${links}?limit=2&after=${page.pagination.nextCursor}`)).page(ExportLink)
    expect(rest.items).toMatchObject([{ id: urls[0]?.linkId, downloads: 1, revokedAt: expect.any(String) }])
    expect((await api.send('DELETE', links)).status).toBe(204)
    expect(await statuses()).toEqual([404, 404, 404])
  })

  it('can be created and revoked only by the owner, whose rights the rows were read with', async () => {
    const bob = service.as(strangerOf('G'))
    expect((await bob.get(`/analytics/exports/${one.id}`)).status).toBe(200)
    expect((await bob.get(`/analytics/exports/${one.id}/download`)).error().code).toBe('forbidden')
    const agent = service.as({ ...strangerOf('H'), permissions: ['analytics:export'] })
    for (const path of ['', '/links', `/links/${link.linkId}`])
      expect((await agent.send('DELETE', `/analytics/exports/${one.id}${path}`)).error().code).toBe(
        'forbidden',
      )
    const outsider = service.as(testPrincipal())
    for (const path of ['', '/download', '/links'])
      expect((await outsider.get(`/analytics/exports/${one.id}${path}`)).status).toBe(404)
  })
})

it('exports are the same after a rebuild from their events', async () => {
  const rows = () => service.sql`select * from exports order by id`
  const before = await rows()
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
