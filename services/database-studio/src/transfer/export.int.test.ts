import { expect, it } from '@jest/globals'
import { TableState } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { twoSpaces } from '../data-plane/two-spaces.fixture.js'
import { assets } from '../record/assets.fixture.js'
import { createRecordAccess, type RecordAccess } from '../row/record-access.js'
import { createExport } from './export.js'

const at = twoSpaces()
const acting = { actor: { id: 'usr_1', name: 'Ann', type: 'user' as const }, requestId: 'request-1' }
const columns = [
  { name: 'text', type: 'text' },
  { name: 'at', type: 'timestamp' },
]
const table = { ...TableState.parse({ ...assets, slug: 'notes', columns, indexes: [] }), version: 1 }
const maxOfPage = 9_000_000

it('an export reads few pages of many small records, and no page above the byte limit', async () => {
  const { plane, ours, service } = at
  const defined = async () => ({ table, validations: [] })
  const definitions = { defined, get: async () => table, forget: () => {} }
  const access = createRecordAccess({ plane, definitions, sql: service.sql, refuseFull: async () => {} })
  const limits: number[] = []
  const read: RecordAccess['read'] = (space, statement) => {
    const [, limit] = /limit (\d+)\) found/.exec(statement.text) ?? []
    if (limit) limits.push(Number(limit))
    return access.read(space, statement)
  }
  const exported = createExport({ ...access, read })
  const add = (count: number, text: string) =>
    plane.write(ours, acting, (tx) =>
      tx.unsafe(`insert into notes (id, text) select 'rec_' || lpad((coalesce(max, 0) + n)::text, 6, '0'), ${text}
        from (select max(substr(id, 5)::int) from notes where id ~ '^rec_\\d{6}$') last, generate_series(1, ${count}) n`),
    )
  // Large records follow many small ones, so the page size estimate is wrong.
  for (let round = 0; round < 3; round++) {
    await add(6_000, `'small'`)
    await add(200, `repeat('x', 200 * 1024)`)
  }
  const principal = testPrincipal({ workspaceId: ours.workspaceId })
  const meta = { tenant: ours, principal, now: '2026-03-02T10:00:00.000Z' }
  const { texts } = await exported('notes', { format: 'ndjson' }, meta)
  const pages: string[] = []
  for await (const text of texts) pages.push(text)
  expect(Math.max(...pages.map((page) => Buffer.byteLength(page)))).toBeLessThan(maxOfPage)
  // For large records, the row limit drops to about the number that fits a page.
  expect(Math.min(...limits)).toBe(64)
  expect(limits.length).toBeLessThan(30)
  const ids = pages.flatMap((page) => page.trimEnd().split('\n')).map((line) => JSON.parse(line).id)
  expect(ids).toHaveLength(1 + 3 * 6_200)
  expect(ids).toEqual([...new Set(ids)].sort())
})
