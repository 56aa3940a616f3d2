import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { readModelTable, stateInteger, stateText } from '@opsplane/postgres'
import { cursorCodec } from '@opsplane/runtime'
import { eq, type SQL, sql } from 'drizzle-orm'
import {
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  type TestStore,
  tenant,
} from '../fixture/test-database.js'
import { tickets as table } from '../fixture/ticket.js'
import { listPage } from './list-as-of.js'
import { readRowsAt, readStreamPageAt } from './rows-as-of.js'
import { buildTableAt, countCreated } from './table-as-of.js'

let test: TestStore
let replica: Replica

beforeAll(async () => {
  test = await openTestStore()
  replica = test.replica()
})
afterAll(() => test?.close())

const at = (minute: number) => `2026-03-02T10:0${minute}:00.000Z`

it('filters by and returns hidden fields, which are never published', async () => {
  const [id, command] = openTicketArguments('Printer on fire', 'printer')
  const [other, otherCommand] = openTicketArguments('Disk full', 'disk')
  await replica.tickets.create(id, { ...command, now: at(1) }, meta({ now: at(1) }))
  await replica.tickets.create(other, { ...otherCommand, now: at(2) }, meta({ now: at(2) }))
  await replica.tickets.handle(id, { kind: 'close', now: at(3) }, meta({ now: at(3) }))
  await replica.tickets.handle(id, { kind: 'delete' }, meta({ now: at(4) }))

  const list = async (
    asOf: string | undefined,
    where: Parameters<typeof listPage>[1]['where'],
    onlyExposed = false,
  ) =>
    (
      await listPage(replica.database.db, {
        asOf,
        table,
        tenant,
        ...(where && { where }),
        onlyExposed,
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
  // Not unsealed for the condition, but returned nevertheless.
  expect(await list(at(2), hidden(`hash of ${id}`), true)).toEqual([])
  expect(await list(at(2), [eq(table.slug, 'printer')], true)).toEqual([
    expect.objectContaining({ id, passwordHash: `hash of ${id}` }),
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

  const slugs = async (minute: number, onlyExposed = false) => {
    const { text, parameters } = buildTableAt({ table, tenant, asOf: at(minute), onlyExposed })
    const passwordHash = "state->>'passwordHash' as hash"
    return replica.database.sql.unsafe(`select slug, ${passwordHash} from ${text} order by slug`, parameters)
  }
  const [disk, printer] = [`hash of ${other}`, `hash of ${id}`]
  expect([...(await slugs(0))]).toEqual([])
  expect([...(await slugs(3))]).toEqual([
    { slug: 'disk', hash: disk },
    { slug: 'printer', hash: printer },
  ])
  expect([...(await slugs(4))]).toEqual([{ slug: 'disk', hash: disk }])
  expect([...(await slugs(4, true))]).toEqual([{ slug: 'disk', hash: null }])
  const created = (minute: number, most: number) =>
    countCreated(replica.database.db, { table, tenant, asOf: at(minute) }, most)
  expect(await Promise.all([created(0, 9), created(1, 9), created(4, 9), created(4, 1)])).toEqual([
    0, 1, 2, 1,
  ])
})

describe('rows derived from selected event types of a stream', () => {
  const cursors = cursorCodec('secret')
  const options = { tenant, binding: 'counted', cursors, present: (row: object) => row }
  /** The ticket's state when it was last counted, until it is closed. */
  const counted = readModelTable('counted_tickets', { slug: stateText('slug', 'slug') })
  const past = { streamType: 'tickets', sets: ['ticket.counted'], ends: ['ticket.closed'] }
  const inWorkspace = { ...tenant, workspaceId: 'ws_counted' }
  const of = (minute: number) => meta({ now: at(minute), tenant: inWorkspace })

  it('reflect the last of those events, until an event of an ending type removes them', async () => {
    const [id, command] = openTicketArguments('Printer on fire', 'counted')
    const [other, otherCommand] = openTicketArguments('Never counted', 'never')
    await replica.tickets.create(id, { ...command, now: at(1) }, of(1))
    await replica.tickets.create(other, { ...otherCommand, now: at(1) }, of(1))
    await replica.tickets.handle(id, { kind: 'count', now: at(2) }, of(2))
    await replica.tickets.handle(id, { kind: 'count', now: at(4) }, of(4))
    // Counts once more, then closes.
    await replica.tickets.handle(id, { kind: 'close', now: at(5) }, of(5))

    const then = async (minute: number, slug = 'counted', of = inWorkspace) => {
      const where = [eq(counted.slug, slug)]
      const asked = { ...options, table: counted, past, tenant: of, asOf: at(minute), where }
      const sort = { column: counted.createdAt, direction: 'asc' } as const
      const { items } = await listPage(replica.database.db, { ...asked, sort, limit: 10 })
      const rows = await readRowsAt(replica.database.db, { ...asked, ids: [other, id, 'none'] })
      expect(rows).toEqual(items)
      return items.map((row) => [
        Reflect.get(row, 'version'),
        Reflect.get(Reflect.get(row, 'state'), 'count'),
      ])
    }
    expect(await Promise.all([1, 2, 3, 4, 5].map((minute) => then(minute)))).toEqual([
      ...[[], [[2, 1]], [[2, 1]], [[3, 2]], []],
    ])
    expect(await then(3, 'never')).toEqual([])
    expect(await then(3, 'counted', { ...inWorkspace, workspaceId: 'ws_2' })).toEqual([])
  })

  it('are one for each value of the sort column when an aggregate has several', async () => {
    const counts = readModelTable('ticket_counts', {
      count: stateInteger('count', 'count'),
      status: stateText('status', 'status'),
    })
    const [stream, command] = openTicketArguments('Printer on fire', 'several')
    await replica.tickets.create(stream, { ...command, now: at(1) }, of(1))
    for (const minute of [2, 3, 4])
      await replica.tickets.handle(stream, { kind: 'count', now: at(minute) }, of(minute))
    await replica.tickets.handle(stream, { kind: 'close', now: at(5) }, of(5))

    const several = { ...past, sets: ['ticket.opened', 'ticket.counted', 'ticket.closed'], ends: [] }
    const walk = async (minute: number, more: { where?: SQL[]; direction?: 'asc' } = {}) => {
      const seen: unknown[] = []
      for (let after: string | undefined; ; ) {
        const { items, nextCursor } = await readStreamPageAt(replica.database.db, {
          ...{ ...options, tenant: inWorkspace, table: counts, past: several, stream, asOf: at(minute) },
          sort: { column: counts.count, direction: more.direction ?? 'desc' },
          ...{ where: more.where ?? [], limit: 1, after },
          present: ({ state, version }) => [state.count, state.status, version, state.passwordHash],
        })
        seen.push(...items)
        if (nextCursor === null) return seen
        after = nextCursor
      }
    }
    const hash = `hash of ${stream}`
    const before = [0, 1, 2, 3].map((count) => [count, 'open', count + 1, hash])
    expect(await walk(0)).toEqual([])
    expect(await walk(3)).toEqual(before.slice(0, 3).toReversed())
    expect(await walk(4, { direction: 'asc' })).toEqual(before)
    // The last count is reported twice: as counted, and as closed.
    expect(await walk(5)).toEqual([[4, 'closed', 6, hash], ...before.toReversed()])
    expect(await walk(5, { where: [eq(counts.status, 'closed')] })).toEqual([[4, 'closed', 6, hash]])
    expect(await walk(5, { where: [eq(counts.count, 1)] })).toEqual([before[1]])
  })
})
