import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { testRole } from '@opsplane/testing'
import { openTestDataPlane, type TestDataPlane } from '../data-plane/data-plane.fixture.js'
import type { Space } from '../data-plane/space.js'

const actor = { id: 'usr_1', name: 'Ann', type: 'user' as const }
const acting = { actor, requestId: 'request-1' }
let at: TestDataPlane
let space: Space
beforeAll(async () => {
  at = await openTestDataPlane()
  space = await at.plane.space({ workspaceId: 'ws_1', environment: 'production' })
})
afterAll(() => at?.close())

/** A captured table, as created by POST /tables. */
async function makeTable(slug: string, columns: string, { schema } = space): Promise<string> {
  const id = newId('table')
  await at.service.sql.begin(async (tx) => {
    await tx.unsafe(`set local role ${testRole(`${schema}_owner`)}`)
    await tx.unsafe(`create table ${schema}.${slug} (id text primary key default studio.new_record_id(), version integer not null,
      created_at timestamptz(3) not null, updated_at timestamptz(3) not null, ${columns})`)
    await tx.unsafe('set local role none')
    await tx.unsafe('select attach_capture($1, $2, $3, $3)', [id, schema, slug])
  })
  return id
}

const write = <T>(work: (tx: StatementRunner) => Promise<T>) => at.plane.write(space, acting, work)

const journalOf = (tableId: string) => at.admin<
  { type: string; version: number; data: Record<string, unknown> }[]
>`
  select type, version, stream_id, resource, actor, request_id, data from events where stream_id like ${`${tableId}/%`} order by position`

describe('changes of rows', () => {
  test('are journaled once with the changed values, whatever statement makes them', async () => {
    const id = await makeTable(
      'assets',
      'name text, price numeric(12,2), big bigint, at timestamptz(3), tags jsonb, double int generated always as (price::int * 2) stored',
    )
    await at.plane.writeOne(space, acting, (proof) => ({
      text: `insert into assets (name, price, big, at) select v.* from ${proof}, (values ('Drill', 9.5::numeric, 9007199254740993::bigint, timestamptz '2026-01-02T03:04:05.678Z')) v`,
      parameters: [],
    }))
    const [row] = await at.admin.unsafe(`select id from ${space.schema}.assets`)
    await at.plane.write(space, acting, async (tx) => {
      await tx.unsafe(`update assets set price = 10, version = 77, created_at = 'epoch' where id = $1`, [
        row?.id,
      ])
      await tx.unsafe(`update assets set price = 10 where id = $1`, [row?.id])
      await tx.unsafe(`delete from assets where id = $1`, [row?.id])
    })
    const journal = await journalOf(id)
    expect(journal.map(({ type, version }) => [type, version])).toEqual([
      ['record.created', 1],
      ['record.updated', 2],
      ['record.deleted', 3],
    ])
    const created = {
      ...{
        id: row?.id,
        version: 1,
        tableSlug: 'assets',
        name: 'Drill',
        price: '9.50',
        big: '9007199254740993',
      },
      ...{ at: '2026-01-02T03:04:05.678Z', tags: null, double: 20 },
      ...{ createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), updatedAt: expect.any(String) },
    }
    expect(journal[0]).toMatchObject({
      ...{ actor, request_id: 'request-1', stream_id: `${id}/${row?.id}` },
      resource: { type: 'record', id: row?.id, displayName: 'Drill' },
      data: { before: null, after: created, tableSlug: 'assets' },
    })
    expect(journal[0]?.data.changes).toEqual([
      'id',
      'version',
      'tableSlug',
      'createdAt',
      'updatedAt',
      'name',
      'price',
      'big',
      'at',
      'double',
    ])
    expect(journal[1]?.data).toMatchObject({
      before: created,
      after: { ...created, version: 2, price: '10.00' },
    })
    expect(journal[1]?.data.changes).toEqual(['version', 'updatedAt', 'price'])
    expect(journal[2]?.data).toMatchObject({ before: { version: 2 }, after: null })
    const waiting =
      await at.admin`select from outbox where event_id in (select id from events where stream_type = 'record')`
    expect(waiting).toHaveLength(3)
  })

  test('are serialized as Postgres serializes JSON, for every type and name of a column', async () => {
    const columns = {
      '"we""ird name\\"': ['text', `e'a "quoted" \\\\ text,\\n\\x01 \\u00e9 \\U0001F600 </script>'`],
      '"100% $b$"': ['text', `''`],
      empty: ['text', 'null'],
      yes: ['boolean', 'true'],
      few: ['smallint', '-7'],
      half: ['double precision', `'NaN'`],
      day: ['date', `'infinity'`],
      local: ['timestamp', `'2026-03-02 10:00'`],
      span: ['interval', `'1 day 2 hours'`],
      texts: ['text[]', `array['a"b', null]`],
      kept: ['json', `e'{"b" : 1,\\n "a":[null]}'`],
      token: ['uuid', `'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`],
    }
    const names = Object.keys(columns)
    const id = await makeTable('odd', names.map((name) => `${name} ${columns[name as 'day'][0]}`).join(', '))
    await write(async (tx) => {
      await tx.unsafe(`set local datestyle = 'German'`)
      await tx.unsafe(`set local intervalstyle = 'iso_8601'`)
      const values = names.map((name) => columns[name as 'day'][1])
      await tx.unsafe(`insert into odd (${names}) values (${values}), (${names.map(() => 'null')})`)
    })
    const events = await at.admin.unsafe(
      `select e.data->'after' as after, (select row_to_json(r) from (select ${names}) r) as expected, created_at_text
       from ${space.schema}.odd o join events e on e.stream_id = '${id}/' || o.id,
         to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') created_at_text`,
    )
    expect(events).toHaveLength(2)
    for (const { after, expected, created_at_text: createdAt } of events)
      expect(after).toMatchObject({ ...expected, span: expected.span && 'P1DT2H', createdAt })
  })

  test("are captured in columns named like the capture trigger's own variables", async () => {
    const names = [
      ...[
        'acting',
        'actor',
        'at',
        'causation_id',
        'defined',
        'found',
        'kind',
        'made',
        'ms',
        'prefix',
        'request_id',
      ],
      ...[
        'source',
        'used',
        'a',
        'appended',
        'display',
        'h',
        'key',
        'n',
        'new',
        'new_rows',
        'number',
        'o',
        'old',
      ],
      ...['old_rows', 'position', 'r', 'record', 'said', 'tg_op', 'v', 'value'],
    ]
    const id = await makeTable('named', names.map((name) => `"${name}" text`).join(', '))
    for (const statement of [
      'insert into named ("made") values (\'x\')',
      `update named set ${names.map((name) => `"${name}" = 'y'`)}`,
      'delete from named',
    ])
      await write((tx) => tx.unsafe(statement))
    expect((await journalOf(id)).map(({ type }) => type)).toEqual([
      ...['record.created', 'record.updated', 'record.deleted'],
    ])
  })

  test('made in one statement are each recorded with their own actor', async () => {
    const id = await makeTable('together', 'name text')
    const [own, other] = [newId('record'), newId('record')]
    const said = { actor: { id: 'usr_2', name: 'Bob', type: 'user' as const }, requestId: 'request-2' }
    const together = { ...acting, records: { [other]: { ...said, causationId: 'evt_1' } } }
    await at.plane.writeOne(space, together, (proof) => ({
      text: `insert into together (id) select v from ${proof}, unnest(array[$4, $5]) v`,
      parameters: [own, other],
    }))
    const made = await at.admin`select stream_id, actor, request_id, causation_id from events
      where stream_id like ${`${id}/%`} order by stream_id`
    expect(made.map((row) => ({ ...row }))).toEqual(
      [
        { stream_id: `${id}/${own}`, actor, request_id: 'request-1', causation_id: null },
        { stream_id: `${id}/${other}`, actor: said.actor, request_id: 'request-2', causation_id: 'evt_1' },
      ].sort((a, b) => (a.stream_id < b.stream_id ? -1 : 1)),
    )
  })

  test('are recorded as one event each, in order, from one statement or from many', async () => {
    const id = await makeTable('many', 'n int')
    await write((tx) => tx.unsafe('insert into many (n) select n from generate_series(1, 3000) n'))
    await write((tx) => tx.unsafe('update many set n = -n where n % 3 = 0'))
    await write((tx) => tx.unsafe('delete from many where n < 0'))
    const events = await at.admin<{ stream: string; versions: number[]; last: { n: number } | null }[]>`
      select stream_id as stream, array_agg(version order by position) as versions,
        (array_agg(data->'after' order by position desc))[1] as last
      from events where stream_id like ${`${id}/%`} group by 1`
    expect(events).toHaveLength(3000)
    const rows = new Map(
      (await at.admin.unsafe<{ id: string; n: number }[]>(`select id, n from ${space.schema}.many`)).map(
        (row) => [row.id, row.n],
      ),
    )
    for (const { stream, versions, last } of events) {
      const row = rows.get(stream.split('/')[1] ?? '')
      expect(versions).toEqual(row === undefined ? [1, 2, 3] : [1])
      expect(row).toBe(last?.n)
    }
    expect(rows.size).toBe(2000)
  })

  test('caused by a cascading deletion are captured', async () => {
    const [sites, tools] = [
      await makeTable('sites', 'name text'),
      await makeTable('tools', `site text references ${space.schema}.sites (id) on delete cascade`),
    ]
    await write(async (tx) => {
      await tx.unsafe(`insert into sites (name) values ('Berlin')`)
      await tx.unsafe('insert into tools (site) select id from sites, generate_series(1, 2)')
    })
    await write((tx) => tx.unsafe('delete from sites'))
    expect((await journalOf(tools)).map(({ type }) => type)).toEqual([
      ...['record.created', 'record.created', 'record.deleted', 'record.deleted'],
    ])
    expect((await journalOf(sites)).at(-1)).toMatchObject({ type: 'record.deleted', actor })
  })

  test('are rolled back together with their events', async () => {
    const id = await makeTable('undone', 'n int')
    const failing = write(async (tx) => {
      await tx.unsafe('insert into undone (n) values (1)')
      await tx.unsafe('select 1 / 0')
    })
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(await journalOf(id)).toEqual([])
  })

  test('made concurrently to one record have versions without gaps', async () => {
    const id = await makeTable('counters', 'n int default 0')
    await write((tx) => tx.unsafe('insert into counters default values'))
    await Promise.all(
      Array.from({ length: 40 }, () => write((tx) => tx.unsafe('update counters set n = n + 1'))),
    )
    const versions = (await journalOf(id)).map(({ version }) => version)
    expect(versions).toEqual(Array.from({ length: 41 }, (_, version) => version + 1))
  })

  test('are rejected if the record is too large, its id was used before, or its id is invalid', async () => {
    await makeTable('large', 'text text')
    const insert = (record: string, text: string) =>
      write((tx) => tx.unsafe('insert into large (id, text) values ($1, $2)', [record, text]))
    const record = newId('record')
    await expect(insert(record, 'x'.repeat(262_144))).rejects.toMatchObject({ code: '54000' })
    await insert(record, 'x'.repeat(200_000))
    await write((tx) => tx.unsafe('delete from large'))
    await expect(insert(record, 'again')).rejects.toMatchObject({ code: '23505' })
    await expect(
      write((tx) => tx.unsafe('update large set id = $1', [newId('record')])),
    ).resolves.toBeDefined()
    await insert(newId('record'), 'other')
    await expect(
      write((tx) => tx.unsafe('update large set id = $1', [newId('record')])),
    ).rejects.toMatchObject({
      code: '23000',
    })
  })

  test('are rejected without an actor or with an outdated definition', async () => {
    const id = await makeTable('guarded', 'n int')
    await at.service.sql`select attach_capture(${id}, ${space.schema}, 'guarded', 'guarded', 3)`
    const silent = at.plane.session(space, 'runtime', { deadlineMs: 10_000 }, ({ sql }) =>
      sql.unsafe('insert into guarded (n) values (1)'),
    )
    await expect(silent).rejects.toMatchObject({ code: '42501' })
    const by = (version: number) =>
      at.plane.write(space, { ...acting, definitions: { [id]: version } }, (tx) =>
        tx.unsafe('insert into guarded (n) values (1)'),
      )
    await expect(by(2)).rejects.toMatchObject({ code: '55000' })
    await by(3)
    expect(await journalOf(id)).toHaveLength(1)
  })

  test('of one tenant are invisible to other tenants and other environments', async () => {
    const staging = await at.plane.space({ workspaceId: 'ws_1', environment: 'staging' })
    const other = await at.plane.space({ workspaceId: 'ws_2', environment: 'production' })
    const ids = []
    for (const each of [space, staging, other]) {
      ids.push(await makeTable('same', 'n int', each))
      await at.plane.write(each, acting, (tx) => tx.unsafe('insert into same (n) values (1)'))
      const [row] = await at.plane.read(each, (sql) => sql.unsafe('select count(*)::int as n from same'))
      expect(row).toEqual({ n: 1 })
    }
    const tenants = await at.admin`
      select workspace_id, environment, split_part(stream_id, '/', 1) as id from events
      where split_part(stream_id, '/', 1) = any(${ids}) order by position`
    expect([...tenants]).toEqual([
      { workspace_id: 'ws_1', environment: 'production', id: ids[0] },
      { workspace_id: 'ws_1', environment: 'staging', id: ids[1] },
      { workspace_id: 'ws_2', environment: 'production', id: ids[2] },
    ])
    // A table cannot be captured under another space.
    const claimed = at.service.sql`select attach_capture(${ids[0] ?? ''}, ${other.schema}, 'same', 'same')`
    await expect(claimed).rejects.toMatchObject({ code: '42501' })
  })
})
