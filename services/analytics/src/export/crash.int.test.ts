import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Download, Export, type ExportFormat, newId } from '@opsplane/contracts'
import { type ApiClient, seededRandom, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { readSheet } from 'read-excel-file/node'
import { type AnalyticsProcess, startAnalyticsProcess } from '../process.fixture.js'
import { type Neighbours, recordId, startNeighbours } from './export.fixture.js'

const killsEach = Number(process.env.EXPORT_KILLS ?? 1)
const seed = Number(process.env.CRASH_SEED ?? 15)
const count = 4_000

let neighbours: Neighbours
let service: TestService
let api: ApiClient
const ada = testPrincipal()
let analytics: AnalyticsProcess

beforeAll(async () => {
  neighbours = await startNeighbours()
  neighbours.count = count
  analytics = await startAnalyticsProcess({
    SERVICE_URLS: JSON.stringify({ settings: neighbours.url, 'database-studio': neighbours.url }),
    EXPORT_PART_BYTES: '16384',
    EXPORT_LEASE_MS: '1000',
  })
  service = analytics.service
  api = service.as(ada)
})
afterAll(async () => {
  await service?.stop()
  await neighbours?.stop()
})

/** Reads the row ids of a file with a different library. */
const idsOf: Partial<Record<ExportFormat, (file: Buffer) => Promise<unknown[]> | unknown[]>> = {
  csv: (file) => (parse(file, { columns: true }) as { id: string }[]).map(({ id }) => id),
  ndjson: (file) =>
    file
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  xlsx: async (file) => (await readSheet(file)).slice(1).map(([id]) => id),
  parquet: async (file) => {
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
    return (await parquetReadObjects({ file: bytes })).map(({ id }) => id)
  },
}

const random = seededRandom(seed)

/** Waits for the complete file; it must include parts written before the kills. */
async function isWhole(id: string, format: ExportFormat, ids: readonly string[]) {
  const done = await waitFor(async () => {
    const one = (await api.get(`/analytics/exports/${id}`)).data(Export)
    return one.status !== 'pending' && one
  })
  expect([done.status, done.error, done.file?.rows]).toEqual(['completed', null, ids.length])
  const { url, sha256 } = (await api.get(`/analytics/exports/${id}/download`)).data(Download)
  const answer = await fetch(`${service.url}/origin${url}`, { headers: await service.headers() })
  const file = Buffer.from(await answer.arrayBuffer())
  expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([done.file?.bytes, sha256])
  expect(await idsOf[format]?.(file)).toEqual(ids)
  const fences = await service.sql<{ fence: string }[]>`
    select distinct split_part(split_part(name, '/', 2), '-', 1) as fence from export_objects
    where export_id = ${id} and part is not null`
  // The file includes parts written before the kills.
  expect(fences.length).toBeGreaterThan(1)
}

test.each(['csv', 'ndjson', 'xlsx', 'parquet'] as const)(
  `%s is whole after ${killsEach} kills, and its checksum is that of its bytes`,
  async (format) => {
    const wanted = { format, source: { records: { table: 'assets' } } }
    const { id } = (await api.post('/analytics/exports', wanted)).data(Export)
    const partsOf = async () =>
      (await service.sql<{ parts: number }[]>`select parts from export_jobs where id = ${id}`)[0]?.parts ?? 0
    let before = 0
    for (let at = 0; at < killsEach; at++) {
      // The source stalls somewhere after the next part, so that the process is killed in the middle of the file.
      const from = (before + 1) * 1_000
      neighbours.stuckAt = Math.min(from + 1 + Math.floor(random() * 900), count - 1)
      await waitFor(async () => (await partsOf()) > before, { message: `a part after ${before}` })
      before = await partsOf()
      await analytics.kill()
      await analytics.start()
    }
    neighbours.stuckAt = null
    await isWhole(
      id,
      format,
      Array.from({ length: count }, (_, at) => recordId(at)),
    )
  },
)

test('an export of facts is complete after the process was killed between two pages', async () => {
  const facts = 9_000
  const { workspaceId = '' } = ada
  const { sql } = service
  const rows = await sql<{ id: string }[]>`
    insert into fact_incidents (id, workspace_id, environment, version, created_at, title)
    select left(${newId('incident')}, 14) || lpad(n::text, 16, '0'), ${workspaceId}, 'production', 1,
      timestamptz '2026-03-01Z' + n / 4 * interval '13 ms', 'Disk ' || n from generate_series(1, ${facts}::int4) n
    returning id`
  // The trigger blocks the third part from being committed until the process is gone.
  const [gate, third] = [8_073, 3]
  await sql.unsafe(`create function wait_at_the_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(${gate}); return new; end $$`)
  await sql.unsafe(`create trigger gate before update of parts on export_jobs for each row
    when (new.parts = ${third} and old.parts < ${third}) execute function wait_at_the_gate()`)
  const closing = await sql.reserve()
  await closing`select pg_advisory_lock(${gate}::int8)`
  const source = { facts: { dataset: 'incidents' } }
  const { id } = (await api.post('/analytics/exports', { format: 'ndjson', source })).data(Export)
  await waitFor(
    // Other databases on this server wait for their own locks.
    async () =>
      (
        await sql`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
        where locktype = 'advisory' and objid = ${gate} and not granted`
      ).length > 0,
  )
  await analytics.kill()
  await closing`select pg_advisory_unlock(${gate}::int8)`
  closing.release()
  await analytics.start()
  await isWhole(id, 'ndjson', rows.map((row) => row.id).sort())
})
