import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import {
  type CatalogPattern,
  type EventOf,
  type EventType,
  eventExample,
  natsNames,
  newId,
} from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import { connectNats, type NatsLink } from './link.js'
import { ensureStreams } from './streams.js'
import {
  type DeadEvent,
  type EventSubscription,
  type SubscribeEventsOptions,
  subscribeEvents,
} from './subscribe-events.js'
import { longTimeout, waitFor } from './wait-for.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
const storeDir = mkdtempSync(join(tmpdir(), 'subscribe-nats-'))
let server: EmbeddedNats
let link: NatsLink
beforeAll(async () => {
  server = await startEmbeddedNats({ storeDir, synced: false })
  link = connectNats({ url: server.url, name: 'subscribe-test', log })
})
afterAll(async () => {
  await link?.close()
  await server?.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

let prefix: string
let runs = 0
const closing: EventSubscription[] = []
beforeEach(async () => {
  prefix = `s${runs++}`
  await ensureStreams(link, natsNames(prefix))
})
afterEach(async () => {
  for (const subscription of closing.splice(0)) await subscription.close()
})

/** Publishes an example of an event type; `resource` distinguishes the resources. */
const publish = async (
  type: EventType | 'incident.beamed_up',
  changes: object = {},
  resource = 'inc_1',
  under: object = {},
) => {
  const example = eventExample(type === 'incident.beamed_up' ? 'incident.created' : type)
  const event = {
    ...example,
    type,
    resource: { ...example.resource, id: resource },
    id: newId('event'),
    ...changes,
  }
  const js = jetstream(await link.ready(), longTimeout)
  await js.publish(natsNames(prefix).eventSubject({ ...event, ...under }), JSON.stringify(event), {
    msgID: event.id,
  })
  return event.id
}
const subscribe = <const Pattern extends CatalogPattern>(
  patterns: readonly Pattern[],
  handle: SubscribeEventsOptions<Pattern>['handle'],
  options: Partial<
    Pick<SubscribeEventsOptions<Pattern>, 'onDead' | 'maxDeliveries' | 'tenant' | 'start' | 'forgetAfterMs'>
  > = {},
) => {
  const retry = { baseMs: 20, maxMs: 50 }
  const common = { link, prefix, durable: 'test', patterns, log, retry, handle, ...options }
  const subscription = subscribeEvents(common)
  closing.push(subscription)
  return subscription
}
const consumerInfo = async () => {
  const manager = await jetstreamManager(await link.ready(), longTimeout)
  return manager.consumers.info(natsNames(prefix).eventsStream, 'test')
}
const unacknowledged = async () => {
  const info = await consumerInfo()
  return info.num_ack_pending + info.num_pending
}

describe('subscribeEvents', () => {
  test('delivers and acknowledges events that match the patterns, in order, with the data of their type', async () => {
    const seen: string[] = []
    const subscription = subscribe(['incident.*', 'incident.created', 'user.activated'], async (event) => {
      if (event.type === 'user.activated') seen.push(`${event.type} ${event.data.after?.email}`)
      else if (event.type === 'incident.escalated') seen.push(`${event.type} ${event.data.causes.join()}`)
      else seen.push(`${event.type} ${event.data.after?.number}`)
    })
    const types = ['incident.created', 'token.created', 'incident.escalated', 'user.activated'] as const
    for (const type of types) await publish(type)
    await waitFor(() => seen.length === 3)
    expect(seen).toEqual([
      'incident.created INC-42',
      'incident.escalated severity_raised',
      'user.activated ada@example.com',
    ])
    await waitFor(async () => (await unacknowledged()) === 0)
    expect(subscription.counters()).toEqual({ handled: 3, retried: 0, deadLettered: 0, skipped: 0 })
  })

  test('continues where it stopped, over a connection of its own', async () => {
    const seen: string[] = []
    const options = { url: server.url, prefix, durable: 'test', patterns: ['*'] as const, log }
    const handle = async ({ id }: EventOf<EventType>) => void seen.push(id)
    const expected = [await publish('incident.created')]
    const first = subscribeEvents({ ...options, handle })
    await waitFor(() => seen.length === 1)
    await first.close()
    expected.push(await publish('secret.rotated'))
    const second = subscribeEvents({ ...options, handle })
    await waitFor(() => seen.length === 2)
    await second.close()
    expect(seen).toEqual(expected)
  })

  test('a temporary durable is deleted some time after it was closed', async () => {
    const seen: string[] = []
    const subscription = subscribe(['*'], async ({ id }) => void seen.push(id), { forgetAfterMs: 1_000 })
    const id = await publish('incident.created')
    await waitFor(() => seen.length === 1)
    await subscription.close()
    expect(seen).toEqual([id])
    const manager = await jetstreamManager(await link.ready(), longTimeout)
    const { eventsStream } = natsNames(prefix)
    await waitFor(async () => (await manager.streams.info(eventsStream)).state.consumer_count === 0)
  })

  test('redelivers a failed event before later events of its resource from the same batch', async () => {
    const seen: string[] = []
    let failures = 0
    let inHand = false
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const subscription = subscribe(['incident.*'], async ({ type, resource }) => {
      if (resource.id === 'inc_0') {
        inHand = true
        return held
      }
      if (resource.id === 'inc_1' && failures < 2) {
        failures++
        throw new Error('not now')
      }
      seen.push(`${resource.id} ${type}`)
    })
    await publish('incident.created', {}, 'inc_0')
    await waitFor(() => inHand)
    // Events that arrive while one is handled form the next batch.
    for (const type of ['incident.created', 'incident.updated', 'incident.resolved'] as const)
      await publish(type)
    await publish('incident.created', {}, 'inc_2')
    await waitFor(async () => (await consumerInfo()).num_ack_pending === 5)
    await (await link.ready()).flush()
    release()
    await waitFor(() => seen.length === 4)
    expect(seen[0]).toBe('inc_2 incident.created')
    expect(seen.toSorted()).toEqual([
      'inc_1 incident.created',
      'inc_1 incident.resolved',
      'inc_1 incident.updated',
      'inc_2 incident.created',
    ])
    expect(subscription.counters()).toMatchObject({ handled: 5, deadLettered: 0 })
  })

  test('dead-letters an event after too many deliveries, with its bytes, and only once onDead has stored it', async () => {
    const id = await publish('incident.created')
    await publish('incident.created', { data: { broken: true } }, 'inc_2')
    const dead: DeadEvent[] = []
    let full = true
    const subscription = subscribe(
      ['incident.created'],
      async () => {
        throw new Error('never')
      },
      {
        maxDeliveries: 3,
        onDead: async (event) => {
          if (full) {
            full = false
            throw new Error('no room')
          }
          dead.push(event)
        },
      },
    )
    await waitFor(() => subscription.counters().deadLettered === 2)
    // One fails three times, the other cannot be parsed; the first to be given up is given up a second time.
    expect(dead.map(({ deliveries }) => deliveries).toSorted()).toEqual([2, 3])
    expect(dead.map(({ body }) => JSON.parse(body).id)).toContain(id)
    await waitFor(async () => (await unacknowledged()) === 0)
  })

  test('dead-letters an event whose workspace differs from that of its subject', async () => {
    const forged = await publish('incident.created', {}, 'inc_1', { workspaceId: 'ws_other' })
    await publish('incident.closed')
    const dead: DeadEvent[] = []
    const seen: string[] = []
    subscribe(['incident.*'], async ({ type }) => void seen.push(type), {
      onDead: async (event) => void dead.push(event),
    })
    await waitFor(() => seen.length === 1 && dead.length === 1)
    expect(seen).toEqual(['incident.closed'])
    expect(JSON.parse(dead[0]?.body ?? '')).toMatchObject({ id: forged })
    expect(dead[0]?.error).toMatchObject({ code: 'subject_mismatch' })
  })

  test('skips unknown event types, and other tenants', async () => {
    await publish('incident.beamed_up')
    await publish('incident.created', { environment: 'staging' })
    await publish('incident.closed')
    const seen: string[] = []
    const subscription = subscribe(['incident.*'], async ({ type }) => void seen.push(type), {
      tenant: { environment: 'production' },
    })
    await waitFor(() => seen.length === 1)
    expect(seen).toEqual(['incident.closed'])
    expect(subscription.counters().skipped).toBe(1)
  })

  test('closing finishes the event in flight and returns the later ones', async () => {
    for (const resource of ['inc_1', 'inc_2', 'inc_3']) await publish('incident.created', {}, resource)
    const seen: string[] = []
    let release = () => {}
    const inHand = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = subscribe(['*'], async ({ resource }) => {
      seen.push(resource.id)
      await inHand
    })
    await waitFor(() => seen.length === 1)
    const closed = first.close()
    release()
    await closed
    expect(seen).toEqual(['inc_1'])
    subscribe(['*'], async ({ resource }) => void seen.push(resource.id))
    // Messages returned for redelivery may arrive twice.
    await waitFor(() => new Set(seen).size === 3)
    expect(seen.filter((id) => id === 'inc_1')).toHaveLength(1)
  })

  test('accepts only patterns of the catalogue', () => {
    // @ts-expect-error no declared type is below it
    const unknown: CatalogPattern = 'starship.*'
    expect(unknown).toBeDefined()
    const nothing = () => subscribe([], async () => {})
    expect(nothing).toThrow('at least one pattern')
  })
})
