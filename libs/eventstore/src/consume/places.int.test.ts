import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { connectNats, type NatsLink, streamSequences } from '@opsplane/nats'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { openRelayedStore, type RelayedStore } from '../fixture/relayed-store.js'
import { openManager } from '../fixture/stream-messages.js'
import { log, meta, openTicketArguments, schema } from '../fixture/test-database.js'
import { consumeEvents, type EventConsumer } from './consume.js'
import { type LogSource, ownLog } from './log-pages.js'

let link: NatsLink
let store: RelayedStore
let consumer: EventConsumer | undefined
beforeEach(async () => {
  link = connectNats({ url: testNatsUrl(), name: 'places-test', log })
  store = await openRelayedStore(link)
})
afterEach(async () => {
  await consumer?.close()
  await store.close()
  await link.close()
})

/** Shifts the log's positions, as if other services published to the stream as well. */
function longerLog(): LogSource {
  const longer = 1_000
  const own = ownLog(schema, store.testStore.database)
  return {
    source: schema,
    end: async () => (await own.end()) + longer,
    async page({ after, ...query }) {
      const { events, next } = await own.page({ ...query, after: Math.max(0, after - longer) })
      return {
        events: events.map(({ position, event }) => ({ position: position + longer, event })),
        next: next === null ? null : next + longer,
      }
    },
  }
}

test('orders backfilled events after those handled before and ahead of those in the stream', async () => {
  const { testStore, names, replica } = store
  const { database } = testStore
  const durable = 'test-places'
  const places = new Map<string, string>()
  const consume = () => {
    consumer = consumeEvents({
      ...{ database, link, names, durable, log },
      history: { of: 'gap', logs: [longerLog()] },
      async perform(events, { sequences }) {
        for (const [at, place] of (await sequences()).entries())
          places.set(String(events[at]?.data.after?.title), place)
      },
    })
  }
  const create = async (title: string) => {
    const [id, open] = openTicketArguments(title)
    await replica.tickets.create(id, open, meta())
  }
  const { streams } = await openManager(link)
  // Makes the relay take the purged messages for expired.
  await streams.update(names.eventsStream, { max_msgs_per_subject: 1_000 })

  consume()
  await create('first')
  await waitFor(async () => {
    const rows = await database.sql`select from consumer_checkpoints where ack_floor >= 1`
    return rows.length > 0
  })
  await consumer?.close()
  for (const title of ['second', 'third']) await create(title)
  await waitFor(async () => (await streams.info(names.eventsStream)).state.last_seq === 3)
  await streams.purge(names.eventsStream)
  consume()
  await waitFor(() => places.size === 3)
  // A reader that waits until everything before it is handled must not have to wait for another message.
  const lowWatermark = await streamSequences(link, names.eventsStream).lowWatermark(durable)
  expect(lowWatermark >= (places.get('third') ?? '~')).toBe(true)
  await create('fourth')
  await waitFor(() => places.size === 4)
  const inOrder = ['first', 'second', 'third', 'fourth'].map((title) => places.get(title))
  expect([...inOrder].sort()).toEqual(inOrder)
})
