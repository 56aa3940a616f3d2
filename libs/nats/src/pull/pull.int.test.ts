import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { durableConsumer } from '../durable-consumer.js'
import { type EmbeddedNats, startEmbeddedNats } from '../embedded.js'
import { ensureConsumer } from '../ensure-consumer.js'
import { connectNats, type NatsLink } from '../link.js'
import { ensureStreams } from '../streams.js'
import { longTimeout, waitFor } from '../wait-for.fixture.js'
import { acknowledgements } from './acknowledgements.js'
import { openPull } from './pull.js'
import { requestRounds } from './request-rounds.js'

const log = createLogger({ service: 'test', level: 'silent' })
const storeDir = mkdtempSync(join(tmpdir(), 'pull-nats-'))
const names = natsNames('pull')
let server: EmbeddedNats
let link: NatsLink
beforeAll(async () => {
  server = await startEmbeddedNats({ storeDir, synced: false })
  link = connectNats({ url: server.url, name: 'pull-test', log })
  await ensureStreams(link, names)
})
afterAll(async () => {
  await link?.close()
  await server?.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

test('fetches gathered messages with one request, and the first message after a pause immediately', async () => {
  const later = Array.from({ length: 40 }, (_, n) => String(n))
  let outcome: Awaited<ReturnType<typeof gather>>
  for (let spacingMs = 3_000; outcome === undefined; spacingMs *= 2) outcome = await gather(spacingMs, later)
  // The request of the third round is not due yet.
  expect(outcome).toEqual({ batches: [['first'], later], requests: 2 })
})

/**
 * The batches a consumer makes of one message and of later messages in the same round. `undefined` if the machine
 * is so busy that this takes longer than a round.
 */
async function gather(spacingMs: number, later: readonly string[]) {
  const connection = await link.ready()
  const client = jetstream(connection, longTimeout)
  const durable = `gathers${spacingMs}`
  const subject = names.topicSubject('ws_1', 'production', durable)
  const batches: string[][] = []
  let requests = 0
  const asked = connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${names.topicsStream}.${durable}`, {
    callback: () => void requests++,
  })
  const consumer = durableConsumer<string>({
    ...{ link, stream: names.topicsStream, durable, log, spacingMs, filterSubjects: [subject] },
    read: (message) => ({ event: message.string(), queueKey: message.string(), tenant: 'ws_1' }),
    apply: async (batch) => void batches.push(batch.map(({ event }) => event)),
  })
  try {
    await waitFor(() => requests === 1)
    const begun = performance.now()
    await client.publish(subject, 'first')
    await waitFor(() => batches.length === 1)
    for (const body of later) await client.publish(subject, body)
    const publishedMs = performance.now() - begun
    await waitFor(() => batches.flat().length === 1 + later.length)
    const outcome = { batches, requests }
    const isWithin = publishedMs < spacingMs && performance.now() - begun < 2 * spacingMs
    return isWithin ? outcome : undefined
  } finally {
    asked.unsubscribe()
    await consumer.close()
  }
}

test('handles the received messages of a round when the pull is lost before the round ends', async () => {
  const seen: string[] = []
  let reads = 0
  const consumer = durableConsumer<string>({
    link: { ...link, ready: async (signal) => withoutEnds(await link.ready(signal)) },
    ...{ stream: names.topicsStream, durable: 'lost', log, spacingMs: 600_000 },
    read(message) {
      reads++
      return { event: message.string(), queueKey: message.string(), tenant: 'ws_1' }
    },
    filterSubjects: [names.topicSubject('ws_1', 'production', 'lost')],
    apply: async (batch) => void seen.push(...batch.map(({ event }) => event)),
  })
  try {
    const client = jetstream(await link.ready(), longTimeout)
    await client.publish(names.topicSubject('ws_1', 'production', 'lost'), 'first')
    await waitFor(() => reads === 1)
    consumer.restart('test')
    await waitFor(() => seen.length === 1)
  } finally {
    await consumer.close()
  }
})

test.each(['before', 'after', 'never'])(
  'receives a message larger than requested once there is room, before or after its refusal, or alone: %s',
  async (when) => {
    const connection = await link.ready()
    const subject = names.topicSubject('ws_1', 'production', when)
    const stream = names.topicsStream
    await ensureConsumer(connection, { stream, durable: when, filterSubjects: [subject] })
    let room = { messages: 10, bytes: 10_000, isWhole: when === 'never' }
    const more = { messages: 10, bytes: 1_000_000 }
    let requests = 0
    let refused = 0
    const arrived: number[] = []
    const received = [
      connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${when}`, {
        callback: () => void requests++,
      }),
      connection.subscribe('_INBOX.>', {
        callback: (_, { headers }) => void (headers?.code === 409 && refused++),
      }),
    ]
    const pull = openPull({
      ...{ connection, stream, durable: when, capacity: () => room, acks: acknowledgements(() => {}) },
      rounds: requestRounds({ spacingMs: 600_000, full: 10, again() {} }),
      onMessage: (message) => void arrived.push(message.bytes),
    })
    try {
      await waitFor(() => requests === 1)
      if (when === 'before') room = { ...more, isWhole: true }
      await jetstream(connection, longTimeout).publish(subject, 'x'.repeat(20_000))
      await waitFor(() => refused === 1)
      if (when === 'after') {
        room = { ...more, isWhole: false }
        pull.more()
      }
      await waitFor(() => arrived.length === 1)
      expect(requests).toBe(2)
    } finally {
      for (const subscription of received) subscription.unsubscribe()
      await pull.close()
    }
  },
)

/** A connection that drops the server's reports at the end of a request. */
function withoutEnds(connection: NatsConnection): NatsConnection {
  const subscribe: NatsConnection['subscribe'] = (subject, { callback, ...options } = {}) =>
    connection.subscribe(subject, {
      ...options,
      ...(callback && {
        callback(error, message) {
          const { code = 0 } = message.headers ?? {}
          if (code !== 404 && code !== 408) callback(error, message)
        },
      }),
    })
  return new Proxy(connection, {
    get(target, name) {
      if (name === 'subscribe') return subscribe
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
