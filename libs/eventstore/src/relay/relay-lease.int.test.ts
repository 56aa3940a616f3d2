import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { connect } from '@opsplane/postgres'
import {
  createDatabase,
  pgbouncer,
  startPooler,
  startTcpProxy,
  testNatsUrl,
  testRole,
  testRolePassword,
  uniquePrefix,
  waitFor,
} from '@opsplane/testing'
import { openManager, streamMessages } from '../fixture/stream-messages.js'
import {
  log,
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  schema,
  type TestStore,
} from '../fixture/test-database.js'
import { type Relay, startRelay } from './relay.js'
import { createRelayStore } from './relay-store.js'

const counted = { kind: 'count', now: '2026-01-01T00:00:00.000Z' } as const
const hourMs = 3_600_000

describe('the relay lease', () => {
  let testStore: TestStore
  let link: NatsLink
  let names: ReturnType<typeof natsNames>
  const closing: (() => Promise<unknown>)[] = []

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'relay-lease', log })
  })
  beforeEach(async () => {
    testStore = await openTestStore()
    names = natsNames(uniquePrefix())
  })
  afterEach(async () => {
    jest.useRealTimers()
    for (const close of closing.splice(0).toReversed()) await close()
    await testStore.close()
  })
  afterAll(() => link.close())

  const start = (instanceId: string, over: NatsLink = link, database = testStore.database) => {
    const relay = startRelay({ database, schema, link: over, names, instanceId, log })
    closing.push(() => relay.close())
    return relay
  }
  const isActive = (relay: Relay) => waitFor(() => relay.counters().active)
  const drained = () =>
    waitFor(async () => (await testStore.database.sql`select from outbox limit 1`).length === 0, {
      message: 'the outbox to drain',
    })
  /** Writes new aggregates and later versions of them. */
  const write = async ({ tickets }: Replica, count = 10) => {
    for (let at = 0; at < count; at++) {
      const [id, open] = openTicketArguments()
      await tickets.create(id, open, meta())
      await tickets.handle(id, counted, meta())
    }
  }
  const expectEverything = async (events: number) => {
    await drained()
    const messages = await streamMessages(link, names)
    expect(messages).toHaveLength(events)
    const versions = new Map<string, number>()
    for (const { event } of messages) {
      expect(event.version).toBe((versions.get(event.resource.id) ?? 0) + 1)
      versions.set(event.resource.id, event.version)
    }
  }
  const proxied = async () => {
    const proxy = await startTcpProxy(Number(new URL(testNatsUrl()).port))
    const over = connectNats({ url: `nats://127.0.0.1:${proxy.port}`, name: 'cut-off', log })
    closing.push(
      () => proxy.close(),
      () => over.close(),
    )
    return { proxy, over }
  }

  test.each(['cut', 'freeze'] as const)(
    "moves to a healthy replica when the holder's connection to NATS breaks (%s)",
    async (fault) => {
      const { proxy, over } = await proxied()
      const unlucky = start('unlucky', over)
      await isActive(unlucky)
      const healthy = start('healthy')
      const replica = testStore.replica({ onCommit: unlucky.offer })
      await write(replica)
      await drained()
      proxy[fault]()
      await write(replica)
      await drained()
      expect(healthy.counters().active).toBe(true)
      proxy.mend()
      await write(replica)
      await expectEverything(60)
    },
  )

  test('moves to another replica when publishing fails, and publishing resumes once it succeeds', async () => {
    const one = start('one')
    await isActive(one)
    const replica = testStore.replica({ onCommit: one.offer })
    await write(replica)
    await drained()
    const manager = await openManager(link)
    const subjects = [names.eventSubjects]
    await manager.streams.update(names.eventsStream, { subjects: [`${names.eventsStream}.elsewhere`] })
    await write(replica)
    const owner = async () => (await testStore.database.sql`select owner from leases where name = 'relay'`)[0]
    start('two')
    await waitFor(async () => (await owner())?.owner === 'two')
    await manager.streams.update(names.eventsStream, { subjects })
    await drained()
    await expectEverything(40)
  })

  test.each([
    ['ahead', hourMs],
    ['behind', -hourMs],
  ])('does not depend on the clock of a replica: an hour %s', async (_, skewMs) => {
    const fakes = {
      doNotFake: ['performance', 'setTimeout', 'setInterval', 'setImmediate', 'nextTick'],
    } as const
    jest.useFakeTimers({
      now: Date.now() + skewMs,
      advanceTimers: false,
      doNotFake: [
        ...fakes.doNotFake,
        'clearTimeout',
        'clearInterval',
        'clearImmediate',
        'queueMicrotask',
        'hrtime',
      ],
    })
    const { sql } = testStore.database
    await sql`insert into leases values ('relay', 'killed', 7, clock_timestamp() + interval '3 seconds')`
    const [next, standby] = [start('next'), start('standby')]
    const replica = testStore.replica({ onCommit: next.offer })
    await write(replica)
    await drained()
    const [lease] = await sql<{ fence: string; early: boolean }[]>`
      select fence, expires_at > clock_timestamp() + interval '1 minute' as early from leases`
    expect(lease).toEqual({ fence: '8', early: false })
    expect([next, standby].filter((relay) => relay.counters().active)).toHaveLength(1)
    await write(replica)
    await expectEverything(40)
  })

  test('expires when its holder cannot renew it, and nothing is published then', async () => {
    const relay = start('one')
    await isActive(relay)
    const replica = testStore.replica({ onCommit: relay.offer })
    await write(replica, 1)
    await drained()
    await testStore.database.sql.begin(async (tx) => {
      await tx`select from leases for update`
      await waitFor(async () => {
        const [row] = await tx`select expires_at < clock_timestamp() as over from leases`
        return row?.over
      })
      await write(replica, 5)
      // If messages had been sent, they would precede this flush on the same connection.
      await (await link.ready()).flush()
      expect(await streamMessages(link, names)).toHaveLength(2)
    })
    await expectEverything(12)
  })

  test('is not granted in a copy of the database, and its outbox is not published', async () => {
    const copy = await createDatabase(new URL(testStore.url).pathname.slice(1), { isInPlace: false })
    closing.push(() => copy.drop())
    const database = connect(copy.url, { schema })
    closing.push(() => database.close())
    const relay = start('copy', link, database)
    await write(testStore.replica({ database, onCommit: relay.offer }), 3)
    const store = createRelayStore(database)
    expect(await store.acquireLease('another', undefined)).not.toHaveProperty('fence')
    expect(relay.counters()).toMatchObject({ active: false, published: 0 })
    await database.sql.unsafe(
      `update opsplane.installation set database_oid = d.oid from pg_database d where d.datname = current_database()`,
    )
    relay.wake()
    await waitFor(() => relay.counters().published > 0)
  })

  const withPooler = pgbouncer ? test : test.skip
  withPooler('is held and handed on behind a pooler of transactions (with pgbouncer)', async () => {
    const role = testRole(schema)
    const pooler = await startPooler({ databaseUrl: testStore.url, users: { [role]: testRolePassword } })
    closing.push(() => pooler.stop())
    const open = (instanceId: string) => {
      const database = connect(pooler.urlOf(role), { schema, max: 4 })
      closing.push(() => database.close())
      const relay = start(instanceId, link, database)
      return { relay, replica: testStore.replica({ database, onCommit: relay.offer }) }
    }
    const [{ relay: one, replica: first }, { relay: two, replica: second }] = [open('one'), open('two')]
    const replicas = [first, second]
    await waitFor(() => one.counters().active || two.counters().active)
    await Promise.all(replicas.map((replica) => write(replica, 20)))
    await drained()
    const [active, standby] = one.counters().active ? [one, two] : [two, one]
    expect(standby.counters().active).toBe(false)
    await active.close()
    await Promise.all(replicas.map((replica) => write(replica, 20)))
    await expectEverything(160)
    expect(standby.counters().active).toBe(true)
  })
})
