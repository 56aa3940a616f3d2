import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { openTestPlane, type TestPlane } from '../plane/plane.fixture.js'
import type { Space } from '../plane/space.js'

const actor = { id: 'usr_1', name: 'Ann', type: 'user' as const }
const acting = { actor, requestId: 'request-1' }
let at: TestPlane
let space: Space
beforeAll(async () => {
  at = await openTestPlane()
  space = await at.plane.space({ workspaceId: 'ws_1', environment: 'production' })
})
afterAll(() => at?.close())

/** A captured table, as POST /tables makes one. */
async function makeTable(slug: string, columns: string): Promise<string> {
  const id = newId('table')
  const { schema } = space
  await at.service.sql.begin(async (tx) => {
    await tx.unsafe(`set local role ${schema}_owner`)
    await tx.unsafe(`create table ${schema}.${slug} (id text primary key default studio.new_record_id(), version integer not null,
      created_at timestamptz(3) not null, updated_at timestamptz(3) not null, ${columns})`)
    await tx.unsafe('set local role none')
    await tx.unsafe('select attach_capture($1, $2, $3, $3)', [id, schema, slug])
  })
  return id
}

const journalOf = (tableId: string) => at.admin<
  { type: string; version: number; data: Record<string, unknown> }[]
>`
  select type, version, stream_id, resource, actor, request_id, data from events where stream_id like ${`${tableId}/%`} order by position`

describe('changes of rows', () => {
  test('are journaled with what they change, once, whoever makes them', async () => {
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
})
