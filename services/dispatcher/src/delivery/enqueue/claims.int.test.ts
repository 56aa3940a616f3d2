import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { stringifyExact } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createDeliveryStore, type DeliveryStoreOptions } from '../delivery-store.js'
import { createDeliveryDays } from '../retention/delivery-days.js'
import { deliveryStoreCases, type Subject } from '../simulation/delivery-store-cases.fixture.js'
import { tenant } from '../simulation/webhooks.fixture.js'
import { type Claimed, type ClaimOptions, createQueueRows } from './queue-statements.js'

/** Number of webhooks with a delivery that is due later. */
const idle = Number(process.env.TEST_WEBHOOKS ?? 2_000)
const hourMs = 3_600_000

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
  // Normally the dispatcher creates the partition of a day when it needs it.
  await fixture.service.sql`select add_delivery_day((now() at time zone 'UTC')::date)`
})
afterAll(() => fixture?.stop())

type Tx = Parameters<Parameters<Database['sql']['begin']>[1]>[0]
class Undo extends Error {}

/** The options that the test cases of the store use. */
const storeOptions = (options: Partial<DeliveryStoreOptions>) => options as DeliveryStoreOptions

/** Runs in a transaction that is rolled back, and in which the clock is two hours ahead of the running dispatcher's. */
async function later(run: (tx: Tx) => Promise<void>): Promise<void> {
  await fixture.service.sql
    .begin(async (tx) => {
      await tx.unsafe(
        `create or replace function now_ms() returns bigint language sql volatile as
         $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint + ${2 * hourMs} $$`,
      )
      await run(tx)
      throw new Undo()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error
    })
}

/** Creates webhooks called `<name><n>` with deliveries of `bytes` bytes each, due in an hour. */
async function webhooks(tx: Tx, name: string, count: number, each: { deliveries: number; bytes: number }) {
  const dueAt = Date.now() + hourMs
  await tx`
    insert into webhooks (id, workspace_id, environment, version, state)
    select ${name} || n, 'ws_claims', 'production', 1, '{"status": "active", "timeoutMs": 1000}'
    from generate_series(1, ${count}::int) n`
  await tx`
    insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, due_at, bytes,
      created_at)
    select 'del_' || ulid_time((extract(epoch from now()) * 1000)::bigint) || lpad(md5(${name} || n || ' ' || m), 16), 'ws_claims', 'production',
      ${name} || n, 'evt_1', 'a.b', 'https://a', 'pending', ${dueAt}::bigint + m, ${each.bytes}, ''
    from generate_series(1, ${count}::int) n, generate_series(1, ${each.deliveries}::int) m`
  await tx`
    update webhook_queues q set next_due_at = d.due_at, oldest_id = d.id
    from (select webhook_id, min(due_at) as due_at, min(id) as id from deliveries group by webhook_id) d
    where d.webhook_id = q.webhook_id and q.webhook_id like ${`${name}%`}`
}

const options: ClaimOptions = {
  leaseMs: 15_000,
  except: [],
  perWebhook: 16,
  limit: 400,
  bytes: 64 * 1024 * 1024,
  drain: { step: 10, everyMs: 200 },
}
const queueRows = (sql: Tx) => createQueueRows({ sql, owner: 'test', consumer: 'test', changed: () => {} })
const countOf = (claimed: readonly Claimed[]) => {
  const counts = new Map<string, number>()
  for (const { webhook_id } of claimed) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1)
  return counts
}

describe('a claim', () => {
  it('stays within a budget of bytes, which the webhooks share', async () => {
    await later(async (tx) => {
      await webhooks(tx, 'wh_large', 25, { deliveries: 16, bytes: 880_000 })
      const claimed = await queueRows(tx).claim(options)
      const total = claimed.reduce((sum, { bytes }) => sum + bytes, 0)
      expect(total).toBeLessThanOrEqual(options.bytes)
      expect(total).toBeGreaterThan(options.bytes - 880_000)
      const counts = [...countOf(claimed).values()]
      expect(counts).toHaveLength(25)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      expect(await queueRows(tx).claim({ ...options, bytes: 1 })).toHaveLength(1)
    })
  })

  it('serves webhooks in turn, and leaves the skipped ones', async () => {
    await later(async (tx) => {
      await webhooks(tx, 'wh_turn', 60, { deliveries: 40, bytes: 1 })
      const served = new Set<string>()
      for (let look = 0; look < 3; look++)
        for (const webhook of countOf(await queueRows(tx).claim(options)).keys()) {
          expect(served.has(webhook) && served.size < 60).toBe(false)
          served.add(webhook)
        }
      expect(served.size).toBe(60)
      const [one = ''] = served
      for (let look = 0; look < 10; look++)
        expect(countOf(await queueRows(tx).claim({ ...options, except: [one] })).has(one)).toBe(false)
      expect(countOf(await queueRows(tx).claim(options)).get(one)).toBeGreaterThan(0)
    })
  })

  it(`reads no more with ${idle} webhooks that wait than with 100`, async () => {
    const read = async (tx: Tx) => {
      // The first call also reads the catalogue, so it is not measured.
      await queueRows(tx).claim(options)
      await queueRows(tx).nextDueIn([])
      const [row] = await tx.unsafe<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }[]>(
        `explain (analyze, buffers, format json)
         select (select count(*) from claim_deliveries('test', 15000, '{}', 16, 400, 1000000, 10, 200)),
           (select next_due_at from webhook_queues where status = 'active' and next_due_at is not null
            order by next_due_at limit 1)`,
      )
      return row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? 0
    }
    let few = 0
    let many = 0
    // Without the clock offset of `later`, so nothing is due.
    const waiting = (count: number, run: (tx: Tx) => Promise<void>) =>
      fixture.service.sql
        .begin(async (tx) => {
          await webhooks(tx, 'wh_wait', count, { deliveries: 1, bytes: 1 })
          await run(tx)
          throw new Undo()
        })
        .catch((error: unknown) => {
          if (!(error instanceof Undo)) throw error
        })
    await waiting(100, async (tx) => {
      few = await read(tx)
    })
    await waiting(idle, async (tx) => {
      many = await read(tx)
    })
    expect(few).toBeGreaterThan(0)
    expect(many).toBeLessThanOrEqual(2 * few + 10)
  })
})

/** The delivery tables in a transaction whose clock is controlled by the test cases. */
async function inTransaction(tx: Tx): Promise<Subject> {
  // Whole milliseconds from here on, as if statements took no time.
  const [{ at } = { at: '' }] = await tx<{ at: string }[]>`select now_ms() as at`
  let nowMs = Number(at)
  const setTime = () =>
    tx.unsafe(
      `create or replace function now_ms() returns bigint language sql volatile as $$ select ${nowMs}::bigint $$`,
    )
  await setTime()
  const database = { sql: tx } as unknown as Database
  return {
    store: (owner) =>
      createDeliveryStore(
        storeOptions({
          ...{ database, owner, consumer: 'test', days: createDeliveryDays(database.sql), changed: () => {} },
        }),
      ),
    addWebhook: async (state) =>
      void (await tx`
        insert into webhooks (id, workspace_id, environment, version, state)
        values (${state.id}, ${tenant.workspaceId}, ${tenant.environment}, 1, ${stringifyExact(state)}::text::json)`),
    setStatus: async (id, status) =>
      void (await tx`
        update webhooks set version = version + 1, state = (state::jsonb || jsonb_build_object('status', ${status}::text))::json
        where id = ${id}`),
    deleteWebhook: async (id) => void (await tx`delete from webhooks where id = ${id}`),
    async pass(ms) {
      nowMs += ms
      await setTime()
    },
    nowMs: async () => nowMs,
    async delivery(id) {
      const [row] = await tx<{ status: string; attempts: number; leased: boolean }[]>`
        select status, attempts, lease_owner is not null as leased from deliveries where id = ${id}`
      if (!row) throw new Error(`there is no delivery ${id}`)
      return { ...row }
    },
  }
}

describe('the delivery store on Postgres', () => {
  it.each(Object.entries(deliveryStoreCases))('%s', (_, check) =>
    later(async (tx) => check(await inTransaction(tx))),
  )
})
