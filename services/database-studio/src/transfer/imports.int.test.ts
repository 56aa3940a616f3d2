import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { RecordImport, StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { assets } from '../record/assets.fixture.js'
import { startStudio } from '../record/studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
let api: ApiClient
const principal = testPrincipal()
const sites = TableState.parse({
  ...assets,
  slug: 'sites',
  columns: [{ name: 'name', type: 'text' }],
  indexes: [],
})
const path = '/tables/assets/records'

beforeAll(async () => {
  at = await startStudio()
  api = at.studio.as(principal)
  await at.addTable(principal, sites)
  await at.addTable(principal, assets)
})
afterAll(() => at?.studio.stop())

async function send(body: string, query = '', type = 'text/csv', as = principal) {
  const headers = { ...(await at.studio.headers(as)), 'content-type': type }
  const response = await fetch(`${at.studio.url}${path}/import${query}`, { method: 'POST', headers, body })
  return {
    status: response.status,
    json: (await response.json()) as { data: unknown; error?: { code: string } },
  }
}

async function imported(body: string, query = '', type = 'text/csv') {
  const { status, json } = await send(body, query, type)
  expect(status).toBe(202)
  const { id } = RecordImport.parse(json.data)
  return waitFor(async () => {
    const found = (await api.get(`/tables/assets/imports/${id}`)).data(RecordImport)
    return found.finishedAt === null ? undefined : found
  })
}

const found = async (filter: object) =>
  (await api.get(`${path}?limit=200&sort=id&filter=${encodeURIComponent(JSON.stringify(filter))}`)).page(
    StudioRecord,
  ).items

describe('an import', () => {
  it('of CSV writes the valid rows and reports the rejected ones', async () => {
    const lines = [
      '\uFEFFname,serial,quantity,active,extra,seen_at,version',
      '"Drill, ""large""",c-1,3,yes,"{""vip"":true}",2026-03-02T10:00:00Z,9',
      '"two\nlines",c-2,,,,,',
      'Saw,c-1,1,,,,',
      `${'x'.repeat(41)},c-4,x,,,,`,
      'Last,c-5,0,false,,,',
      'too,many,1,,,,,,cells',
    ]
    const done = await imported(lines.join('\r\n'))
    expect(done).toMatchObject({
      status: 'completed',
      written: 3,
      refused: 3,
      error: null,
      bytesDone: done.bytes,
    })
    expect(done.refusedRows).toEqual([
      { line: 5, path: '/serial', message: 'There is a record with the same serial already: c-1.' },
      { line: 6, path: '/name', message: 'must have at most 40 characters' },
      { line: 6, path: '/quantity', message: 'must be a whole number' },
      { line: 8, path: '', message: 'has 9 cells, and the header 7' },
    ])
    const records = await found({ serial: { starts_with: 'c-' } })
    expect(records.map(({ name, quantity, active }) => [name, quantity, active])).toEqual([
      ['Drill, "large"', 3, true],
      ['two\nlines', 1, null],
      ['Last', 0, false],
    ])
    expect(records[0]).toMatchObject({
      version: 1,
      extra: { vip: true },
      seen_at: '2026-03-02T10:00:00.000Z',
    })
  })

  it('updates existing records by a unique column', async () => {
    const line = (serial: string, name: string) => JSON.stringify({ id: 'passed over', serial, name })
    const first = [line('n-1', 'One'), line('n-2', 'Two'), 'no json', ''].join('\n')
    const kind = ['?format=ndjson&on=serial', 'application/x-ndjson'] as const
    expect(await imported(first, ...kind)).toMatchObject({
      written: 2,
      refused: 1,
      refusedRows: [{ line: 3 }],
    })
    await imported(line('n-2', 'Deux'), ...kind)
    expect(
      (await found({ serial: { starts_with: 'n-' } })).map(({ name, version }) => [name, version]),
    ).toEqual([
      ['One', 1],
      ['Deux', 2],
    ])
    const priced = (serial: string, price: string) => JSON.stringify({ serial, name: serial, price })
    await imported([priced('n-1', '1.00'), priced('n-2', '2.00')].join('\n'), ...kind)
    await imported([priced('n-1', '3.00'), line('n-2', 'Dos')].join('\n'), ...kind)
    expect((await found({ serial: { starts_with: 'n-' } })).map(({ name, price }) => [name, price])).toEqual([
      ['n-1', '3.00'],
      ['Dos', '2.00'],
    ])
  })

  it('that cannot be read fails, and keeps the rows before the error', async () => {
    const done = await imported('name,serial\nBefore,q-1\n"open,q-2\n')
    expect(done).toMatchObject({ status: 'failed', error: expect.stringContaining('no CSV') })
    expect((await send('name\na', '', 'application/json')).json.error?.code).toBe('unsupported_media_type')
    expect((await send('')).status).toBe(422)
    expect((await send('name\na', '?on=name')).status).toBe(422)
    expect((await send('name\na', '?format=xml')).status).toBe(422)
  })

  it('that wrote no row fails with the reason', async () => {
    expect(await imported('name,serial\n,z-1\n,z-2\n')).toMatchObject({
      ...{ status: 'failed', written: 0, refused: 2 },
      error: 'None of the 2 rows could be written: refusedRows says why.',
      refusedRows: [
        { line: 2, path: '/name', message: 'is required' },
        { line: 3, path: '/name', message: 'is required' },
      ],
    })
    expect(await imported('name,serial\n')).toMatchObject({
      ...{ status: 'failed', written: 0, refused: 0, error: 'The file has no rows: nothing was written.' },
    })
    expect(await imported('name,serial\nStray 5" disk,z-3\n')).toMatchObject({
      ...{ status: 'failed', written: 0, error: expect.stringContaining('line 2 has a quote within a cell') },
    })
    expect(await imported('name,serial,name\na,b,c\n')).toMatchObject({
      ...{ status: 'failed', written: 0, error: expect.stringContaining('names "name" twice') },
    })
  })

  it('in another encoding is rejected before any of it is stored', async () => {
    const headers = { ...(await at.studio.headers(principal)), 'content-type': 'text/csv' }
    const body = Buffer.from('name\nBefore\nJürgen\n', 'latin1')
    const response = await fetch(`${at.studio.url}${path}/import`, { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'validation_failed',
          details: [expect.objectContaining({ message: 'line 3 is not UTF-8', params: { line: 3 } })],
        }),
      }),
    ])
    expect(await at.studio.sql`select from record_import_parts`).toHaveLength(0)
  })

  it('writes each row once, even if its progress was lost after the commit', async () => {
    const rows = 4_500
    const before = (
      await at.studio.sql`select count(*)::int as count from events where type = 'record.created'`
    )[0]?.count as number
    // A batch is recorded separately from its rows. The trigger makes the first recording of a batch fail.
    await at.studio.sql.unsafe(`
      create function forget_once() returns trigger language plpgsql as $$ begin
        if new.batches = 1 and new.lease_fence = 1 then
          raise exception 'this record is lost';
        end if;
        return new;
      end $$;
      create trigger forget_once before update of batches on record_imports for each row execute function forget_once();`)
    const done = await imported(
      `name\n${Array.from({ length: rows }, (_, index) => `Row ${index}`).join('\n')}`,
    )
    await at.studio.sql.unsafe('drop function forget_once() cascade')
    expect(done).toMatchObject({ status: 'completed', written: rows, refused: 0 })
    const after = (
      await at.studio.sql`select count(*)::int as count from events where type = 'record.created'`
    )[0]?.count as number
    expect(after - before).toBe(rows)
    expect(await at.studio.sql`select from record_import_parts`).toHaveLength(0)
  })

  it('that fails repeatedly because of the platform is abandoned with an error', async () => {
    await at.studio.sql.unsafe(`
      create function lose_answers() returns trigger language plpgsql as $$ begin
        if new.key like 'import:%:1' then raise exception 'the disk is on fire' using errcode = 'internal_error'; end if;
        return new;
      end $$;
      create trigger lose_answers before insert on idempotency_keys for each row execute function lose_answers();
      create function often() returns trigger language plpgsql as $$ begin
        -- As if it had failed so often at its second batch already.
        if new.batches = 1 and old.batches = 1 and new.failures = 1 then new.failures := 7; end if;
        return new;
      end $$;
      create trigger often before update on record_imports for each row execute function often();`)
    const done = await imported(`name\n${Array.from({ length: 2_500 }, (_, n) => `Lost ${n}`).join('\n')}`)
    await at.studio.sql.unsafe('drop function lose_answers() cascade; drop function often() cascade')
    expect(done).toMatchObject({
      status: 'failed',
      written: 500,
      error: expect.stringMatching(/^The rows after the first 1 batches .* 8 attempts.* request req_/),
    })
    expect(done.error).not.toContain('fire')
    expect(await found({ name: 'Lost 2400' })).toEqual([])
    const rest = await at.studio.sql`select from record_import_parts where import_id = ${done.id}`
    expect(rest).toHaveLength(0)
  })

  it('is visible only in its workspace', async () => {
    const { id } = await imported('name\nMine')
    const other = testPrincipal()
    await at.addTable(other, sites)
    await at.addTable(other, assets)
    expect((await at.studio.as(other).get(`/tables/assets/imports/${id}`)).status).toBe(404)
    expect(
      (
        await at.studio
          .as({ ...principal, permissions: ['records:read'] })
          .get(`/tables/assets/imports/${id}`)
      ).status,
    ).toBe(200)
    expect(
      (await send('name\na', '', 'text/csv', { ...principal, permissions: ['records:read'] })).status,
    ).toBe(403)
  })
})

describe('an export', () => {
  it('can be imported', async () => {
    const filter = encodeURIComponent('{"serial":{"starts_with":"c-"}}')
    const csv = await api.get(
      `${path}/export?filter=${filter}&fields=name,serial,quantity,active,extra,seen_at`,
    )
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toMatch(/^attachment; filename="assets-.*\.csv"$/)
    const renamed = csv.text.replaceAll('c-', 'd-')
    expect(await imported(renamed)).toMatchObject({ written: 3, refused: 0 })
    const columns = ({ name, quantity, active, extra, seen_at }: StudioRecord) => ({
      name,
      quantity,
      active,
      extra,
      seen_at,
    })
    expect((await found({ serial: { starts_with: 'd-' } })).map(columns)).toEqual(
      (await found({ serial: { starts_with: 'c-' } })).map(columns),
    )
  })

  it('has the requested delimiter and byte order mark, and can be imported', async () => {
    const filter = encodeURIComponent('{"serial":{"starts_with":"c-"}}')
    const query = `filter=${filter}&fields=name,serial,quantity`
    const plain = (await api.get(`${path}/export?${query}`)).text
    const url = `${at.studio.url}${path}/export?${query}&delimiter=${encodeURIComponent(';')}&bom=true`
    const response = await fetch(url, { headers: await at.studio.headers(principal) })
    // `text()` would remove the byte order mark.
    const text = Buffer.from(await response.arrayBuffer()).toString()
    expect(text).toBe(`\ufeff${plain.replaceAll(/,(?! )/g, ';')}`)
    const done = await imported(text.replaceAll('c-', 'e-'), `?delimiter=${encodeURIComponent(';')}`)
    expect(done).toMatchObject({ status: 'completed', written: 3, refused: 0 })
  })

  it('contains every record once across many pages, as NDJSON', async () => {
    const { text } = await api.get(`${path}/export?format=ndjson`)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => StudioRecord.parse(JSON.parse(line)))
    const { total } = (await api.get(`${path}?count=exact`)).page(z.looseObject({})).pagination
    expect(lines).toHaveLength(total ?? 0)
    expect(new Set(lines.map(({ id }) => id)).size).toBe(total)
    expect(lines.at(-1)).toEqual((await api.get(`${path}/${lines.at(-1)?.id}`)).data(StudioRecord))
  })
})
