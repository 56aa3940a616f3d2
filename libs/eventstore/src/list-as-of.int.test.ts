import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { cursorCodec } from '@opsplane/runtime'
import { eq, sql } from 'drizzle-orm'
import {
  meta,
  opening,
  openTestStore,
  type Replica,
  type TestStore,
  tenant,
} from './fixture/test-database.js'
import { tickets as table } from './fixture/ticket.js'
import { listPage } from './list-as-of.js'

let test: TestStore
let replica: Replica

beforeAll(async () => {
  test = await openTestStore()
  replica = test.replica()
})
afterAll(() => test?.close())

const at = (minute: number) => `2026-03-02T10:0${minute}:00.000Z`

it('filters by, and gives back, what of a state never left the service', async () => {
  const [id, command] = opening('Printer on fire', 'printer')
  const [other, otherCommand] = opening('Disk full', 'disk')
  await replica.tickets.create(id, { ...command, now: at(1) }, meta({ now: at(1) }))
  await replica.tickets.create(other, { ...otherCommand, now: at(2) }, meta({ now: at(2) }))
  await replica.tickets.handle(id, { kind: 'close', now: at(3) }, meta({ now: at(3) }))
  await replica.tickets.handle(id, { kind: 'delete' }, meta({ now: at(4) }))

  const list = async (asOf: string | undefined, where: Parameters<typeof listPage>[1]['where']) =>
    (
      await listPage(replica.database.db, {
        asOf,
        table,
        tenant,
        ...(where && { where }),
        sort: { column: table.createdAt, direction: 'asc' },
        limit: 10,
        binding: 'tickets',
        cursors: cursorCodec('secret'),
        present: ({ state, version }) => ({ ...state, version }),
      })
    ).items

  const hidden = (secret: string) => [sql`${table.state}->>'passwordHash' = ${secret}`]
  expect(await list(at(2), hidden(`hash of ${id}`))).toEqual([
    expect.objectContaining({ id, passwordHash: `hash of ${id}`, status: 'open', version: 1 }),
  ])
  expect(await list(at(3), [eq(table.slug, 'printer')])).toEqual([
    expect.objectContaining({ id, status: 'closed', version: 3 }),
  ])
  const ids = async (asOf: string | undefined) =>
    (await list(asOf, undefined)).map((ticket) => Reflect.get(ticket, 'id'))
  expect(await Promise.all([at(0), at(1), at(3), at(4), undefined].map(ids))).toEqual([
    [],
    [id],
    [id, other],
    [other],
    [other],
  ])
})
