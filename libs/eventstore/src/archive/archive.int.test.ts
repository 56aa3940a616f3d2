import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Database, openClient } from '@opsplane/postgres'
import { ownLog } from '../consume/log-pages.js'
import {
  meta,
  openTestStore,
  openTicketArguments,
  readModels,
  schema,
  type TestStore,
} from '../fixture/test-database.js'
import { ticketDecider } from '../fixture/ticket.js'
import { rebuild } from '../rebuild/rebuild.js'
import { attachMonth, detachMonth, LogMonthError, verifyMonth } from './detach.js'
import { monthEvents } from './month-events.js'
import { DetachedMonthsError, logMonths } from './months.js'

const month = '2025-03'
const table = 'detached_events_202503'
const present = new Date().toISOString().slice(0, 7)

let store: TestStore
/** Connection as the owner of the tables, as an operator uses it. */
let sql: Database['sql']
const ids: string[] = []

beforeAll(async () => {
  store = await openTestStore()
  sql = openClient(store.url, { schema, max: 1 })
  const { tickets } = store.replica()
  for (const title of ['old', 'older']) {
    const [id, command] = openTicketArguments(title)
    await tickets.create(id, command, meta())
    ids.push(id)
  }
  // Backdates the events: the month is encoded in the id.
  await sql`select add_event_month('2025-03-01')`
  await sql.unsafe(
    `update events set id = 'evt_' || ulid_time(extract(epoch from timestamptz '2025-03-07')::bigint * 1000 + position) || substr(id, 15)`,
  )
  await sql`update outbox o set event_id = e.id from events e where e.position = o.position`
  const [id, command] = openTicketArguments('new')
  await tickets.create(id, command, meta())
})
afterAll(async () => {
  await sql?.end()
  await store?.close()
})

const detach = () => detachMonth({ sql, month })
const attach = () => attachMonth({ sql, month })
const folded = () =>
  rebuild({ adminUrl: store.url, schema, deciders: [ticketDecider], projectedTables: ['ticket_titles'] })

it('does not detach a month that has unpublished events', async () => {
  await expect(detach()).rejects.toThrow(/2 events of 2025-03 are not published/)
  await expect(detachMonth({ sql, month: '2024-01' })).rejects.toThrow(LogMonthError)
})

it('does not detach a month whose events have to be republished by the time it is locked', async () => {
  await sql`delete from outbox`
  // The first check has passed by the time the checksum is computed.
  const backfilled: typeof sql = Object.assign(Object.create(sql), {
    begin: async (work: Parameters<typeof sql.begin>[1]) => {
      await sql`insert into outbox (position, workspace_id, event_id) select position, workspace_id, id from events where position = 1`
      return sql.begin(work)
    },
  })
  await expect(detachMonth({ sql: backfilled, month })).rejects.toThrow(
    /1 events of 2025-03 are not published/,
  )
  expect(await sql`select 1 from events where position <= 2`).toHaveLength(2)
  await sql`delete from outbox`
})

it('detaches a month into its own table, and still guards versions, ids and readers', async () => {
  const before = await readModels(store.database)
  expect(await detach()).toMatchObject({ month, events: 2, first: 1, last: 2 })
  expect(await logMonths(sql)).toEqual(
    expect.arrayContaining([
      { month, where: 'table', events: 2, first: 1, last: 2, bytes: expect.any(Number) },
      expect.objectContaining({ month: present, where: 'log', events: 1 }),
    ]),
  )
  expect(await readModels(store.database)).toEqual(before)
  const { tickets } = store.replica()
  const [first = ''] = ids
  await expect(tickets.create(first, openTicketArguments('again')[1], meta())).rejects.toThrow()
  await expect(sql`select 1 from events where position = 1`).resolves.toEqual([])
  await expect(detach()).rejects.toThrow(LogMonthError)
})

it('names the detached month in the errors of operations that need its events', async () => {
  await expect(folded()).rejects.toThrow(DetachedMonthsError)
  await expect(folded()).rejects.toThrow(/2025-03/)
  const log = ownLog(schema, store.database)
  await expect(log.page({ after: 0, types: '*' })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('2025-03'),
  })
  expect((await log.page({ after: 2, types: '*' })).events).toHaveLength(1)
  expect((await log.page({ after: 0, types: '*', since: '2026-01-01T00:00:00.000Z' })).events).toHaveLength(1)
})

it('reads the events of a detached month in order', async () => {
  const events = []
  for await (const batch of monthEvents(sql, table)) events.push(...batch)
  expect(events.map(({ resource }) => resource.id)).toEqual(ids)
})

it.each([
  [
    'an event is changed',
    `update ${table} set data = '{"title":"forged"}' where position = 2`,
    /checksum differs/,
  ],
  ['what is sealed is changed', `update ${table} set sealed = '{}' where position = 2`, /checksum differs/],
  ['an event is missing', `delete from ${table} where position = 2`, /has 1 events; 2 were detached/],
  ['the table is not there', `drop table ${table}`, /pg_restore/],
])('neither verifies nor attaches a month when %s', async (_, change, message) => {
  await sql.unsafe(`create table copied as select * from ${table}`)
  await sql.unsafe(change)
  await expect(verifyMonth({ sql, month })).rejects.toThrow(message)
  await expect(attach()).rejects.toThrow(message)
  expect(await sql`select 1 from events where position <= 2`).toEqual([])
  // Like pg_restore does.
  await sql.unsafe(`drop table if exists ${table}; alter table copied rename to ${table}`).simple()
  await verifyMonth({ sql, month })
})

it('attaches a month, and rebuilds the same read models', async () => {
  const before = await readModels(store.database)
  expect(await attach()).toMatchObject({ month, events: 2 })
  await expect(attach()).rejects.toThrow(/not detached/)
  expect(await logMonths(sql)).toContainEqual(expect.objectContaining({ month, where: 'log', events: 2 }))
  await folded()
  expect(await readModels(store.database)).toEqual(before)
  expect(await detach()).toMatchObject({ events: 2 })
})
