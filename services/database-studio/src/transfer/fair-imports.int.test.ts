import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Principal, RecordImport, TableState } from '@opsplane/contracts'
import { isLongTier, testPrincipal, waitFor } from '@opsplane/testing'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

const limited = testPrincipal()
const full = testPrincipal()
const limits = {
  [limited.workspaceId ?? '']: { imports: 2, importBytes: 3_000_000, tables: 1 },
  [full.workspaceId ?? '']: { recordBytes: 1 },
}
const items = TableState.parse({
  ...assets,
  slug: 'items',
  columns: [{ name: 'name', type: 'text' }],
  indexes: [],
})

let at: Awaited<ReturnType<typeof startStudio>>
beforeAll(async () => {
  at = await startStudio({ ...unreachableServices, WORKSPACE_LIMITS: JSON.stringify(limits) })
})
afterAll(() => at?.studio.stop())

async function begin(principal: Principal, body: string) {
  const headers = { ...(await at.studio.headers(principal)), 'content-type': 'text/csv' }
  const response = await fetch(`${at.studio.url}/tables/items/records/import`, {
    method: 'POST',
    headers,
    body,
  })
  const json = (await response.json()) as {
    data: { id: string }
    error?: { code: string; details: object[] }
  }
  return { status: response.status, ...json }
}
const read = async (principal: Principal, id: string) =>
  (await at.studio.as(principal).get(`/tables/items/imports/${id}`)).data(RecordImport)
const rows = (count: number) => `name\n${Array.from({ length: count }, (_, n) => `Row ${n}`).join('\n')}`
const cancel = (principal: Principal, id: string) =>
  at.studio.as(principal).post(`/tables/items/imports/${id}/cancel`)

describe('imports are scheduled fairly', () => {
  it("a workspace with many long imports delays another's short import by at most one slice of each", async () => {
    const [busy, other] = [testPrincipal(), testPrincipal()]
    for (const principal of [busy, other]) await at.addTable(principal, items)
    const count = 100_000
    const long: string[] = []
    for (let n = 0; n < 3; n++) long.push((await begin(busy, rows(count))).data.id)
    await waitFor(async () => ((await read(busy, long[0] ?? '')).written > 0 ? true : undefined))
    const { data } = await begin(other, rows(2))
    const short = await waitFor(async () => {
      const found = await read(other, data.id)
      return found.finishedAt === null ? undefined : found
    })
    expect(short).toMatchObject({ status: 'completed', written: 2 })
    const states = await Promise.all(long.map((id) => read(busy, id)))
    for (const { finishedAt, written } of states) {
      expect(finishedAt).toBeNull()
      expect(written).toBeLessThan(count)
    }
    for (const id of long) expect((await cancel(busy, id)).data(RecordImport).status).toBe('cancelled')
    // A cancelled import writes at most the batch in flight, and cannot be cancelled again.
    expect((await cancel(busy, long[0] ?? '')).error().code).toBe('invalid_state_transition')
    expect(await at.studio.sql`select from record_import_parts`).toHaveLength(0)
  })

  it('an import that continues over many slices writes each row once', async () => {
    const principal = testPrincipal()
    await at.addTable(principal, items)
    const count = isLongTier() ? 30_000 : 12_000
    const { data } = await begin(principal, rows(count))
    const done = await waitFor(async () => {
      const found = await read(principal, data.id)
      return found.finishedAt === null ? undefined : found
    })
    expect(done).toMatchObject({ status: 'completed', written: count, refused: 0, bytesDone: done.bytes })
    const total = await at.studio.as(principal).get('/tables/items/records?count=exact&limit=1')
    expect(total.text).toContain(`"total":${count}`)
  })
})

describe('a workspace at its quota is rejected with the name of the limit', () => {
  const quota = (limit: string) => ({ code: 'quota_exceeded', details: [{ params: { limit } }] })

  it('for files that are too large, and for one table too many', async () => {
    await at.addTable(limited, items)
    const { slug, columns } = items
    const second = await at.studio.as(limited).post('/tables', { slug: `${slug}2`, columns })
    expect(second.error()).toMatchObject(quota('tables'))
    const { status, error } = await begin(limited, `name\n${'x'.repeat(4_000_000)}`)
    expect([status, error]).toEqual([422, expect.objectContaining({ code: 'quota_exceeded' })])
    expect(error).toMatchObject(quota('importBytes'))
    expect(await at.studio.sql`select from record_import_parts`).toHaveLength(0)
    await at.studio.sql`insert into record_imports
        (id, workspace_id, environment, table_slug, format, principal, status, due_at, created_at)
      select 'imp_' || n, ${limited.workspaceId ?? ''}, 'production', 'items', 'csv', '{}', 'uploading', now() + '1 hour', now()
      from generate_series(1, 2) n`
    expect((await begin(limited, rows(1))).error).toMatchObject(quota('imports'))
  })

  it('for records by every kind of write, but not for deletions', async () => {
    const api = at.studio.as(full)
    await at.addTable(full, items)
    const record = { name: 'x' }
    const path = '/tables/items/records'
    const write = (sql: string) => api.post('/queries/run', { sql, mode: 'write' })
    for (const answer of [
      await api.post(path, record),
      await api.post(`${path}/bulk`, { records: [record] }),
      await api.post('/tables/batch', { operations: [{ op: 'create', table: 'items', data: record }] }),
      await write(`insert into items (name) values ('x')`),
    ])
      expect(answer.error()).toMatchObject(quota('recordBytes'))
    expect((await begin(full, rows(1))).error).toMatchObject(quota('recordBytes'))
    expect((await write('delete from items')).status).toBe(200)
  })
})
