import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { eventHeaders } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { openRelayedStore, type RelayedStore } from '../fixture/relayed-store.js'
import { longTimeout } from '../fixture/stream-messages.js'
import { log, meta, openTicketArguments, schema, tenant } from '../fixture/test-database.js'
import { consumeEvents, type EventConsumer, type LazyHandling } from './consume.js'
import { ownLog } from './log-pages.js'

describe('a consumer that parses relevant events only', () => {
  let store: RelayedStore
  let testStore: RelayedStore['testStore']
  let replica: RelayedStore['replica']
  let link: NatsLink
  let names: RelayedStore['names']
  let consumer: EventConsumer
  /** The events read, as `<type> <subject>`, once per read. */
  const read: string[] = []

  beforeAll(() => {
    link = connectNats({ url: testNatsUrl(), name: 'lazy-test', log })
  })
  beforeEach(async () => {
    read.length = 0
    store = await openRelayedStore(link)
    ;({ testStore, names, replica } = store)
  })
  afterEach(async () => {
    await consumer.close()
    await store.close()
  })
  afterAll(() => link.close())

  const start = (performLazily: LazyHandling['performLazily']) => {
    consumer = consumeEvents({
      ...{ database: testStore.database, link, names, durable: 'test-lazy', log, performLazily },
      ...{
        retry: { baseMs: 20, maxMs: 50 },
        history: { of: 'gap', logs: [ownLog(schema, testStore.database)] },
      },
    })
  }
  /** Reads only the events of the wanted type. */
  const sifting = (wanted: string) => async (events: Parameters<LazyHandling['performLazily']>[0]) => {
    for (const event of events.filter(({ type }) => type === wanted)) {
      const { type, resource } = event.read()
      read.push(`${type} ${resource.id}`)
    }
  }
  const create = async () => {
    const [id, open] = openTicketArguments()
    await replica.tickets.create(id, open, meta())
    return id
  }
  const count = (id: string) =>
    replica.tickets.handle(id, { kind: 'count', now: '2026-01-01T00:00:00.000Z' }, meta())
  const publish = async (type: string, body: string, workspaceId: string = tenant.workspaceId) => {
    const carried = headers()
    carried.set(eventHeaders.stream, 'some-ticket')
    const subject = names.eventSubject({ ...tenant, workspaceId, type })
    await jetstream(await link.ready(), longTimeout).publish(subject, body, { headers: carried })
  }
  const letters = () => testStore.database.sql`select payload, error from dead_letters order by error`

  test('skips other events without parsing them, even if they are invalid', async () => {
    start(sifting('ticket.opened'))
    const id = await create()
    await count(id)
    await publish('ticket.counted', 'not json')
    await count(id)
    await waitFor(() => consumer.counters().handled === 4)
    expect(read).toEqual([`ticket.opened ${id}`])
    expect(await letters()).toEqual([])
  })

  test('dead-letters relevant events that it cannot parse, without retries', async () => {
    const id = await create()
    await publish('ticket.opened', 'not json')
    await publish('ticket.opened', '{}', 'ws_other')
    start(sifting('ticket.opened'))
    await waitFor(() => consumer.counters().deadLettered === 2)
    expect(await letters()).toMatchObject([
      { payload: 'not json', error: expect.stringMatching(/^SyntaxError/) },
      { payload: '{}', error: expect.stringMatching(/^ZodError/) },
    ])
    expect(new Set(read)).toEqual(new Set([`ticket.opened ${id}`]))
    expect(consumer.counters()).toMatchObject({ handled: 1, retried: 0 })
  })

  test('delays events that follow a failed event of their stream, without parsing them', async () => {
    const failing = await create()
    let failures = 3
    const done: string[] = []
    start(async (events) => {
      for (const event of events) {
        const { resource, version } = event.read()
        if (resource.id === failing && version === 1 && failures-- > 0) throw new Error('not yet')
        done.push(`${resource.id === failing ? 'failing' : 'other'} ${version}`)
      }
    })
    await count(failing)
    await create()
    await waitFor(() => consumer.counters().handled === 3)
    const kept = done.filter((each) => each.startsWith('failing'))
    expect([...new Set(kept)]).toEqual(['failing 1', 'failing 2'])
  })

  test('advances its low watermark for a log without relevant events', async () => {
    start(sifting('nothing.happened'))
    await waitFor(async () => {
      await create()
      return consumer.lowWatermarks().get(schema) !== undefined
    })
    expect(read).toEqual([])
  })
})
