import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { attachMonth, detachMonth, LogMonthError, type MonthFile, UnknownOutcomeError } from './detach.js'
import { DetachedMonthsError, logMonths } from './months.js'
import { readMonthFile } from './read-file.js'

const folder = mkdtempSync(join(tmpdir(), 'opsplane-archive-'))
const month = '2025-03'
const file = join(folder, month)
const present = new Date().toISOString().slice(0, 7)

let store: TestStore
/** The owner's, as an operator has it. */
let sql: Database['sql']
let kept: MonthFile | undefined
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
  // As if they had been made long ago: the month is in the id.
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
  rmSync(folder, { recursive: true })
})

const keep = async (written: MonthFile) => {
  kept = written
}
const detach = () => detachMonth({ sql, schema, month, file, keep })
const folded = () =>
  rebuild({ adminUrl: store.url, schema, deciders: [ticketDecider], projectedTables: ['ticket_titles'] })

it('is not detached while any of it waits to be published', async () => {
  await expect(detach()).rejects.toThrow(/2 events of 2025-03 of desk wait/)
  await expect(detachMonth({ sql, schema, month: '2024-01', file, keep: async () => {} })).rejects.toThrow(
    LogMonthError,
  )
})

it('leaves a file alone that is there already', async () => {
  await sql`delete from outbox`
  writeFileSync(file, 'the only rows')
  await expect(detach()).rejects.toThrow(/is there already/)
  expect(readFileSync(file, 'utf8')).toBe('the only rows')
  rmSync(file)
})

it('is not detached when it waits to be published by the time its rows are to go', async () => {
  await sql`delete from outbox`
  const refilled = detachMonth({
    ...{ sql, schema, month, file },
    keep: async () => {
      await sql`insert into outbox (position, workspace_id, event_id) select position, workspace_id, id from events where position = 1`
    },
  })
  await expect(refilled).rejects.toThrow(/1 events of 2025-03 of desk wait/)
  expect(existsSync(file)).toBe(false)
  expect(await sql`select 1 from events where position <= 2`).toHaveLength(2)
})

it('keeps the file where the rows may have been deleted without an acknowledgement', async () => {
  await sql`delete from outbox`
  const cutOff: typeof sql = Object.assign(Object.create(sql), {
    begin: async (work: Parameters<typeof sql.begin>[1]) => {
      await sql.begin(work)
      throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
    },
  })
  await expect(detachMonth({ sql: cutOff, schema, month, file, keep })).rejects.toThrow(UnknownOutcomeError)
  if (!kept) throw new Error('nothing was kept')
  await attachMonth(sql, kept, file)
  expect(await sql`select 1 from events where position <= 2`).toHaveLength(2)
  rmSync(file)
})

it('moves a month to a file, and guards versions, ids and readers as before', async () => {
  const before = await readModels(store.database)
  expect(await detach()).toMatchObject({ month, events: 2, first: 1, last: 2, sha256: kept?.sha256 })
  expect(await logMonths(sql)).toEqual(
    expect.arrayContaining([
      { month, isDetached: true, events: 2, first: 1, last: 2, bytes: 0 },
      expect.objectContaining({ month: present, isDetached: false, events: 1 }),
    ]),
  )
  expect(await readModels(store.database)).toEqual(before)
  const { tickets } = store.replica()
  const [first = ''] = ids
  await expect(tickets.create(first, openTicketArguments('again')[1], meta())).rejects.toThrow()
  await expect(sql`select 1 from events where position = 1`).resolves.toEqual([])
})

it('names the missing month in the error', async () => {
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

it('reads the events of a file', async () => {
  if (!kept) throw new Error('nothing was detached')
  const events = []
  for await (const batch of readMonthFile(sql, kept, file)) events.push(...batch)
  expect(events.map(({ resource }) => resource.id)).toEqual(ids)
})

it('takes back that file, and no other, and folds as before', async () => {
  if (!kept) throw new Error('nothing was detached')
  await expect(attachMonth(sql, { ...kept, sha256: '0'.repeat(64) }, file)).rejects.toThrow(/another file/)
  await expect(attachMonth(sql, { ...kept, events: 3 }, file)).rejects.toThrow(/fewer events/)
  const before = await readModels(store.database)
  await attachMonth(sql, kept, file)
  await expect(attachMonth(sql, kept, file)).rejects.toThrow(/not detached/)
  expect((await logMonths(sql)).find((each) => each.month === month)).toMatchObject({
    isDetached: false,
    events: 2,
  })
  await folded()
  expect(await readModels(store.database)).toEqual(before)
})
