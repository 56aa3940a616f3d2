import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import { appendStream, fillOutbox } from '../fixture/append-rows.js'
import { streamMessages } from '../fixture/stream-messages.js'
import {
  log,
  meta,
  openTestStore,
  openTicketArguments,
  schema,
  type TestStore,
} from '../fixture/test-database.js'
import { createWaker, type Waker } from '../waker.js'
import { readOutbox } from './outbox-reader.js'
import { startRelay } from './relay.js'
import { trackLease } from './relay-lease.js'
import { createRelayQueue, type RelayQueue } from './relay-queue.js'
import { createRelayStore, type RelayStore } from './relay-store.js'

const million = 1_000_000
/** Number of events of an import; RELAY_EVENTS=1000000 is the long run. */
const many = Number(process.env.RELAY_EVENTS ?? 200_000)

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const event = {
  id: 'evt_1',
  version: 1,
  type: 'ticket.opened',
  environment: 'production',
  actor: '{}',
  resource: '{}',
  data: '{}',
  requestId: null,
  causationId: null,
  source: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  trace: null,
}

describe('polling the outbox', () => {
  let testStore: TestStore
  let store: RelayStore
  let waker: Waker
  let link: NatsLink

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'relay-look', log })
  })
  beforeEach(async () => {
    testStore = await openTestStore()
    store = createRelayStore(testStore.database)
    waker = createWaker()
  })
  afterEach(async () => {
    waker.close()
    await testStore.close()
  })
  afterAll(() => link.close())

  /** Reads the outbox into a queue and records the order in which it publishes. */
  const read = (options: Partial<Parameters<typeof createRelayQueue>[0]> = {}) => {
    const order: { workspaceId: string; position: number }[] = []
    let sequence = 0
    const queue = createRelayQueue({
      start: 0,
      mayPublish: () => true,
      send: async ({ workspaceId, position }) => {
        await setImmediate()
        order.push({ workspaceId, position: Number(position) })
        return { sequence: ++sequence, duplicate: false }
      },
      load: async (positions) =>
        positions.map((position) => ({
          ...event,
          position: String(position),
          streamId: `s_${position}`,
          // Like those of an import that is the only source of events.
          workspaceId: position <= many ? 'ws_import' : 'ws_other',
        })),
      onDone: () => {},
      onFailure: () => {},
      ...options,
    })
    const lease = trackLease({ owner: 'one', fence: '1' }, performance.now() + 3_600_000)
    const reading = readOutbox({
      store,
      lease,
      queue,
      waker,
      ended: () => waker.closing.aborted,
      onRenewed: () => {},
    })
    return { queue, order, reading }
  }
  const outstanding = (queue: RelayQueue, count: number) =>
    waitFor(() => queue.positions.outstanding === count && !queue.positions.unsettled)

  test('finds events that are committed late at a lower position', async () => {
    const { queue, reading } = read({ mayPublish: () => false })
    const { sql } = testStore.database
    const late = deferred()
    const begun = deferred()
    const committing = sql.begin(async (tx) => {
      await fillOutbox(tx, 'ws_late', 3)
      begun.resolve()
      await late.promise
    })
    await begun.promise
    await fillOutbox(sql, 'ws_1', 5)
    waker.wake()
    await waitFor(() => queue.positions.outstanding === 5)
    // Even after several polls nothing below the position of the open transaction counts as settled.
    for (let look = 0; look < 3; look++) {
      waker.wake()
      await fillOutbox(sql, 'ws_1', 1)
      waker.wake()
      await waitFor(() => queue.positions.outstanding === 6 + look)
      expect(queue.positions.settled).toBeLessThan(1)
    }
    late.resolve()
    await committing
    await outstanding(queue, 11)
    expect(queue.positions.settled).toBeGreaterThanOrEqual(11)
    waker.close()
    await reading
  })

  test('costs the same after a million publications under an open snapshot', async () => {
    const { sql } = testStore.database
    const { queue, reading } = read({ mayPublish: () => false })
    const blocks = async () => {
      const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]>(
        `explain (analyze, buffers, format json)
         select position, workspace_id from outbox where position > ${queue.positions.settled}
         order by position limit 50000`,
      )
      const plan = row?.['QUERY PLAN'][0].Plan ?? {}
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
    }
    await fillOutbox(sql, 'ws_1', 10)
    waker.wake()
    await outstanding(queue, 10)
    const before = await blocks()

    const done = deferred()
    const held = deferred()
    const snapshot = sql.begin('isolation level repeatable read read only', async (tx) => {
      await tx`select count(*) from outbox`
      held.resolve()
      await done.promise
    })
    await held.promise
    for (let round = 0; round < 10; round++) {
      await fillOutbox(sql, 'ws_1', million / 10)
      await sql`delete from outbox`
    }
    await fillOutbox(sql, 'ws_1', 10)
    waker.wake()
    await waitFor(() => queue.positions.settled >= million + 20)
    expect(await blocks()).toBeLessThanOrEqual(before + 10)
    // From the beginning it would cost more: dead rows cannot be cleaned up while the snapshot is open.
    const [all] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]>(
      `explain (analyze, buffers, format json) select position from outbox where position > 0 order by position limit 10`,
    )
    expect(all?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeGreaterThan(1_000)
    done.resolve()
    await snapshot
    waker.close()
    await reading
  })

  test(`${many} events of one workspace delay those of another by a few of them`, async () => {
    const { sql } = testStore.database
    for (let round = 0; round < 10; round++) await fillOutbox(sql, 'ws_import', many / 10)
    let mayPublish = false
    let arrivedAt = 0
    // However long the poll takes to find it, it arrives before the others have been published.
    const { queue, order, reading } = read({
      mayPublish: () => mayPublish && (arrivedAt > 0 || order.length < many / 2),
    })
    await outstanding(queue, many)
    mayPublish = true
    queue.pump()
    await waitFor(() => order.length > 2_000)
    await fillOutbox(sql, 'ws_other', 1)
    // It arrives once a poll has found it.
    const learn = queue.learn
    queue.learn = (workspaceId, positions) => {
      if (workspaceId === 'ws_other') arrivedAt = order.length
      learn(workspaceId, positions)
    }
    waker.wake()
    const place = await waitFor(() => order.findIndex(({ workspaceId }) => workspaceId === 'ws_other') + 1)
    expect(arrivedAt).toBeGreaterThan(0)
    expect(place - arrivedAt).toBeLessThan(500)
    mayPublish = false
    waker.close()
    await reading
  })

  test('publishes a stream of thousands of events completely and in order, in parallel with others', async () => {
    const { sql } = testStore.database
    const { tickets } = testStore.replica()
    await appendStream(sql, 'ws_1', 3_000)
    for (let at = 0; at < 20; at++) await tickets.create(...openTicketArguments(), meta())
    const names = natsNames(uniquePrefix())
    const relay = startRelay({ ...testStore, schema, link, names, instanceId: 'one', log })
    await waitFor(async () => (await sql`select from outbox limit 1`).length === 0)
    await relay.close()
    const versions = (await streamMessages(link, names)).map(({ event }) => event.version)
    const others = versions.indexOf(1, versions.indexOf(1) + 1)
    expect(others).toBeLessThan(2_000)
    expect(versions).toHaveLength(3_020)
  })
})
