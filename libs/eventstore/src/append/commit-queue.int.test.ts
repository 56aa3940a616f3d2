import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError, IdempotencyRaceError } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import {
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  schema,
  type TestStore,
  tenant,
} from '../fixture/test-database.js'
import { ticketDecider } from '../fixture/ticket.js'
import type { Unit } from '../unit.js'

let testStore: TestStore
let one: Replica
let other: Replica
/** The number of append statements `one` has executed. */
let appends = 0
let texts = new Set<string>()
beforeAll(async () => {
  testStore = await openTestStore()
  one = testStore.replica({ database: counted(connect(testStore.url, { schema })) })
  other = testStore.replica()
})
beforeEach(() => {
  appends = 0
  texts = new Set()
})
afterAll(() => testStore.close())

function counted(database: Database): Database {
  const planned = new Proxy(database.planned, {
    get(target, name, receiver) {
      if (name !== 'unsafe') return Reflect.get(target, name, receiver)
      return (...args: Parameters<Database['sql']['unsafe']>) => {
        if (args[0].includes('insert into events as r')) {
          appends++
          texts.add(args[0])
        }
        return target.unsafe(...args)
      }
    },
  })
  return { ...database, planned }
}

const now = '2026-01-01T00:00:00.000Z'
const count = { kind: 'count', now } as const
const close = { kind: 'close', now } as const
const openTickets = async (many: number) => {
  const opened = Array.from({ length: many }, () => openTicketArguments())
  await Promise.all(opened.map(([id, open]) => one.tickets.create(id, open, meta())))
  return opened.map(([id]) => id)
}
const createTen = () => openTickets(10)
const relyingOn = (id: string, meanwhile?: () => Promise<unknown>) => async (unit: Unit) => {
  const found = await unit.find(one.tickets, id)
  if (found?.state.status !== 'open') throw new ApiError('conflict', 'The ticket is closed.')
  unit.requireUnchanged(ticketDecider, id, { status: 'open' })
  await unit.create(one.tickets, ...openTicketArguments())
  await meanwhile?.()
}

test('plans an append statement once, and again when eight times as many commits have been written', async () => {
  const { tickets } = testStore.replica({ database: counted(testStore.database) })
  for (let opened = 0; opened < 20; opened++) await tickets.create(...openTicketArguments(), meta())
  expect(appends).toBe(20)
  expect(texts.size).toBe(2)
  const [setting] = await testStore.database.planned`show plan_cache_mode`
  expect(setting).toEqual({ plan_cache_mode: 'force_generic_plan' })
})

describe('a locked row', () => {
  const attempts: [string, string, (id: string) => Promise<unknown>][] = [
    ['the head of a stream', 'stream_heads where stream_id', (id) => one.tickets.handle(id, count, meta())],
    ['a row of a read model', 'tickets where id', (id) => one.tickets.handle(id, count, meta())],
    ['a row that is deleted', 'tickets where id', (id) => one.tickets.handle(id, { kind: 'delete' }, meta())],
    ['a row that is relied on', 'tickets where id', (id) => one.store.transact(meta(), relyingOn(id))],
  ]
  test.each(attempts)('blocks only commits that need it: %s', async (_, place, attempt) => {
    const [id = ''] = await openTickets(1)
    let done = false
    let attempted: Promise<unknown> = Promise.resolve()
    await testStore.database.sql.begin(async (tx) => {
      await tx.unsafe(`select from ${place} = $1 for update`, [id])
      attempted = attempt(id).then(() => {
        done = true
      })
      for (let round = 0; round < 5; round++) await createTen()
      expect(done).toBe(false)
    })
    await attempted
    expect(done).toBe(true)
  })

  test('fails only the commit that needs it, once the maximum lock wait has passed', async () => {
    const impatient = testStore.replica({ maxLockWaitMs: 100 })
    const [id = ''] = await openTickets(1)
    await testStore.database.sql.begin(async (tx) => {
      await tx`select from stream_heads where stream_id = ${id} for update`
      await expect(impatient.tickets.handle(id, count, meta())).rejects.toMatchObject({
        code: 'version_conflict',
      })
      const [fresh, open] = openTicketArguments()
      await impatient.tickets.create(fresh, open, meta())
    })
    expect(await impatient.tickets.handle(id, count, meta())).toMatchObject({ version: 2 })
  })
})

describe('a unique value of an uncommitted transaction', () => {
  const attemptWhile = async (slug: string, end: (done: () => boolean) => void) => {
    let done = false
    let attempted: Promise<unknown> = Promise.resolve()
    const deciding = testStore.database.sql.begin(async (tx) => {
      await other.store.within(tx, meta(), (unit) =>
        unit.create(other.tickets, ...openTicketArguments('Rival', slug)),
      )
      attempted = one.tickets.create(...openTicketArguments('Second', slug), meta()).finally(() => {
        done = true
      })
      attempted.catch(() => {})
      for (let round = 0; round < 3; round++) await createTen()
      end(() => done)
    })
    await deciding.catch((error: unknown) => expect(error).toMatchObject({ message: 'changed my mind' }))
    return attempted
  }

  test('blocks only commits that need the value, and rejects them once it is committed', async () => {
    const attempted = attemptWhile('committed-later', (done) => expect(done()).toBe(false))
    await expect(attempted).rejects.toMatchObject({
      code: 'conflict',
      details: [{ params: { constraint: 'tickets_slug_key' } }],
    })
  })

  test('is available when its transaction rolls back', async () => {
    const attempted = attemptWhile('never-committed', () => {
      throw new Error('changed my mind')
    })
    expect(await attempted).toMatchObject({ version: 1 })
  })
})

describe('a group of 64 commits', () => {
  const group = Array.from({ length: 64 }, (_, at) => at)
  const loses = (at: number) => at % 20 === 7
  const losers = group.filter(loses)
  /** Releases all commits only after each has decided and `meanwhile` has run. */
  const together = (meanwhile: () => Promise<unknown>) => {
    let decided = 0
    let release: () => void = () => {}
    const all = new Promise<void>((resolve) => {
      release = resolve
    })
    return async () => {
      if (++decided === group.length) await meanwhile().then(release, release)
      await all
    }
  }
  const outcomesOf = async (attempts: Promise<unknown>[]) => {
    const results = await Promise.allSettled(attempts)
    expect(group.filter((at) => results[at]?.status === 'rejected')).toEqual(losers)
    return losers.map((at) => (results[at] as PromiseRejectedResult).reason as unknown)
  }

  test('rejects only the commits whose expected version is outdated', async () => {
    const ids = await openTickets(64)
    const ready = together(() =>
      Promise.all(losers.map((at) => other.tickets.handle(ids[at] ?? '', count, meta()))),
    )
    appends = 0
    const reasons = await outcomesOf(
      ids.map((id) =>
        one.store.transact(meta({ expectedVersion: 1 }), async (unit) => {
          await unit.handle(one.tickets, id, count)
          await ready()
        }),
      ),
    )
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'precondition_failed' })
    expect(appends).toBe(1)
    for (const id of ids) expect(await one.tickets.get(id, tenant)).toMatchObject({ count: 1, version: 2 })
  })

  test('rejects only the commits whose unique value exists already or is repeated in the group', async () => {
    await one.tickets.create(...openTicketArguments('First', 'value-is-taken'), meta())
    appends = 0
    const reasons = await outcomesOf(
      group.map((at) =>
        one.tickets.create(...openTicketArguments('Next', loses(at) ? 'value-is-taken' : undefined), meta()),
      ),
    )
    for (const reason of reasons)
      expect(reason).toMatchObject({ details: [{ params: { constraint: 'tickets_slug_key' } }] })
    expect(appends).toBe(1)

    appends = 0
    const same = await Promise.allSettled(
      group.map(() => one.tickets.create(...openTicketArguments('Same', 'value-of-many'), meta())),
    )
    expect(same.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of same)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
    expect(appends).toBe(2)
  })

  test('rejects only the commits whose Idempotency-Key is already used', async () => {
    const keyed = (at: number) =>
      meta({
        idempotency: { key: `group-${at}`, fingerprint: 'f', respond: () => ({ status: 201, body: {} }) },
      })
    await Promise.all(losers.map((at) => other.tickets.create(...openTicketArguments(), keyed(at))))
    appends = 0
    const reasons = await outcomesOf(
      group.map((at) => one.tickets.create(...openTicketArguments(), keyed(at))),
    )
    for (const reason of reasons) expect(reason).toBeInstanceOf(IdempotencyRaceError)
    expect(appends).toBe(1)
  })

  test('rejects only the commits whose read dependency has changed', async () => {
    const ids = await openTickets(64)
    const ready = together(() =>
      Promise.all(losers.map((at) => other.tickets.handle(ids[at] ?? '', close, meta()))),
    )
    appends = 0
    const reasons = await outcomesOf(ids.map((id) => one.store.transact(meta(), relyingOn(id, ready))))
    for (const reason of reasons) expect(reason).toMatchObject({ message: 'The ticket is closed.' })
    expect(appends).toBe(1)
  })
})

describe('two processes', () => {
  const each = Array.from({ length: 8 }, (_, at) => at)
  const rounds = Array.from({ length: 25 }, (_, at) => at)
  const race = async (attempt: (replica: Replica, name: string) => Promise<unknown>) => {
    for (const round of rounds) {
      const attempts = each.map((at) =>
        Promise.allSettled([one, other].map((replica) => attempt(replica, `${round}-${at}`))),
      )
      for (const pair of await Promise.all(attempts)) {
        expect(pair.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        for (const result of pair)
          if (result.status === 'rejected')
            expect([409, 'IdempotencyRaceError']).toContain(kindOf(result.reason))
      }
    }
  }
  const kindOf = (reason: unknown) =>
    reason instanceof ApiError ? reason.status : reason instanceof Error ? reason.name : reason

  test('never both commit the same id, unique value or idempotency key', async () => {
    const ids = new Map<string, ReturnType<typeof openTicketArguments>>()
    await race((replica, name) => {
      const args = ids.get(name) ?? openTicketArguments()
      ids.set(name, args)
      return replica.tickets.create(...args, meta())
    })
    await race((replica, name) =>
      replica.tickets.create(...openTicketArguments('Raced', `raced-${name}`), meta()),
    )
    await race((replica, name) =>
      replica.tickets.create(
        ...openTicketArguments(),
        meta({
          idempotency: { key: `race-${name}`, fingerprint: 'f', respond: () => ({ status: 201, body: {} }) },
        }),
      ),
    )
    const gaps = await testStore.database.sql`
      select stream_id from events group by stream_id
      having max(version) <> count(*) or min(version) <> 1
        or max(version) <> (select version from stream_heads h where h.stream_id = events.stream_id)`
    expect(gaps).toEqual([])
    const [left] = await testStore.database.sql`
      select (select count(*) from events) - (select count(*) from outbox) as difference`
    expect(left).toMatchObject({ difference: '0' })
  })
})
