import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { type DurableConsumer, type DurableConsumerOptions, durableConsumer } from './durable-consumer.js'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import { connectNats, type NatsLink } from './link.js'
import type { StreamMessage } from './stream-message.js'
import { ensureStreams } from './streams.js'
import { longTimeout, waitFor } from './wait-for.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
const storeDir = mkdtempSync(join(tmpdir(), 'durable-nats-'))
let server: EmbeddedNats
let link: NatsLink
beforeAll(async () => {
  server = await startEmbeddedNats({ storeDir, synced: false })
  link = connectNats({ url: server.url, name: 'durable-test', log })
})
afterAll(async () => {
  await link?.close()
  await server?.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

let names: ReturnType<typeof natsNames>
let runs = 0
const closing: { close(): Promise<void> }[] = []
beforeEach(async () => {
  names = natsNames(`d${runs++}`)
  await ensureStreams(link, names)
})
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close()
})

/** A body consists of `<workspace> <line> <number>`. */
const read = (message: StreamMessage) => {
  const event = message.string()
  const [tenant = '', line = ''] = event.split(' ')
  return { event, tenant, queueKey: `${tenant}/${line}` }
}
const publish = async (...bodies: string[]) => {
  const client = jetstream(await link.ready(), longTimeout)
  const subject = names.topicSubject('ws_1', 'production', 'orders')
  for (let at = 0; at < bodies.length; at += 100)
    await Promise.all(bodies.slice(at, at + 100).map((body) => client.publish(subject, body)))
}
const consume = (
  options: Partial<DurableConsumerOptions<string>> & { handle(events: string[]): Promise<void> },
) => {
  const consumer: DurableConsumer = durableConsumer<string>({
    link,
    stream: names.topicsStream,
    durable: 'test',
    log,
    read,
    retry: { baseMs: 20, maxMs: 50 },
    // On a busy machine the server may be silent for so long that it counts as lost, together with messages it has
    // just sent.
    ackWaitMs: 2_000,
    apply: (batch) => options.handle(batch.map(({ event }) => event)),
    ...options,
  })
  closing.push(consumer)
  return consumer
}
const info = async () =>
  (await jetstreamManager(await link.ready(), longTimeout)).consumers.info(names.topicsStream, 'test')
const allAcknowledged = () =>
  waitFor(async () => {
    const { num_ack_pending, num_pending } = await info()
    return num_ack_pending + num_pending === 0
  })
const numbered = (count: number, tenant = 'ws_1') =>
  Array.from({ length: count }, (_, n) => `${tenant} line${n} ${n}`)

class Away extends Error {}
const isAway = (error: unknown) => error instanceof Away

describe('unacknowledged messages of a consumer', () => {
  test('are kept alive through an outage of many ack waits, and handled once', async () => {
    const handled: string[] = []
    let attempts = 0
    let isOver = false
    const consumer = consume({
      ackWaitMs: 400,
      isAway,
      async handle(events) {
        // 100 + 200 + … + 3200 ms of waiting: more than fifteen ack waits.
        if (events[0] === 'ws_1 line0 0') isOver = attempts++ === 6
        if (!isOver) throw new Away()
        handled.push(...events)
      },
    })
    await publish(...numbered(1_500))
    await waitFor(() => consumer.counters().handled >= 1_500)
    await allAcknowledged()
    expect(handled.toSorted()).toEqual(numbered(1_500).toSorted())
    expect(consumer.counters()).toEqual({ handled: 1_500, retried: 0, deadLettered: 0, skipped: 0 })
  })

  test('are limited in number', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = consume({ maxBatch: 50, handle: () => held })
    await publish(...numbered(500))
    await waitFor(async () => (await info()).num_ack_pending === 100)
    await (await link.ready()).flush()
    expect(await info()).toMatchObject({ num_ack_pending: 100, num_pending: 400 })
    release()
    await waitFor(() => consumer.counters().handled === 500)
  })

  test('are limited in bytes, however large the messages are', async () => {
    const text = 'x'.repeat(1_000_000)
    let inHand = 0
    let largest = 0
    const consumer = consume({
      maxBufferedBytes: 1,
      async handle(events) {
        inHand = events.length
        largest = Math.max(largest, events.length)
      },
    })
    for (let n = 0; n < 40; n++) await publish(`ws_1 line${n} ${text}`)
    await waitFor(() => consumer.counters().handled === 40)
    expect(inHand).toBeGreaterThan(0)
    // Each is larger than the buffer, so each is delivered alone.
    expect(largest).toBe(1)
  })
})

describe('concurrent batches', () => {
  test('do not wait for each other, except for events of one queue key', async () => {
    const seen: string[] = []
    const waiting = new Map<string, () => void>()
    consume({
      maxBatch: 1,
      batchesInFlight: 3,
      async handle([event = '']) {
        seen.push(event)
        if (event.startsWith('ws_1 slow')) await new Promise<void>((resolve) => waiting.set(event, resolve))
      },
    })
    await publish('ws_1 slow 1', 'ws_1 slow 2', 'ws_1 b 3', 'ws_1 c 4')
    await waitFor(() => seen.length === 3)
    expect(seen.toSorted()).toEqual(['ws_1 b 3', 'ws_1 c 4', 'ws_1 slow 1'])
    waiting.get('ws_1 slow 1')?.()
    await waitFor(() => seen.length === 4)
    expect(seen.at(-1)).toBe('ws_1 slow 2')
    waiting.get('ws_1 slow 2')?.()
    await allAcknowledged()
  })

  test('are all finished before the consumer closes, and messages not yet handled are returned', async () => {
    const finished: string[] = []
    let begun = 0
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = consume({
      maxBatch: 1,
      batchesInFlight: 2,
      async handle(events) {
        begun++
        await held
        finished.push(...events)
      },
    })
    await publish(...numbered(10))
    await waitFor(() => begun === 2)
    const closed = consumer.close()
    release()
    await closed
    expect(finished.toSorted()).toEqual(numbered(2))
    await waitFor(async () => (await info()).ack_floor.stream_seq === 2)
  })

  test('continue while one finds a dependency unavailable that others reach, and that one is dead-lettered', async () => {
    const dead: string[] = []
    const consumer = consume({
      isAway,
      maxDeliveries: 2,
      onDead: async (message) => void dead.push(message.string()),
      async handle(events) {
        if (events.some((event) => event.startsWith('ws_bad'))) throw new Away()
      },
    })
    await publish('ws_bad line 1')
    await waitFor(async () => (await info()).num_ack_pending === 1)
    // The success of the other events shows that the dependency is available.
    for (let n = 0; dead.length === 0; n++) {
      await publish(`ws_1 line${n} ${n}`)
      await waitFor(() => consumer.counters().handled > n)
    }
    expect(dead).toEqual(['ws_bad line 1'])
  })
})

describe('an event that always fails', () => {
  test('is isolated in a few attempts, then fails alone on each redelivery, and blocks no other event', async () => {
    const attempts: string[][] = []
    const dead: string[] = []
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const consumer = consume({
      maxDeliveries: 5,
      onDead: async (message) => void dead.push(message.string()),
      async handle(events) {
        await begun
        attempts.push(events)
        if (events.includes('ws_1 line100 100')) throw new Error('cannot be handled')
      },
    })
    await publish(...numbered(300))
    await waitFor(async () => (await info()).num_ack_pending >= 257)
    begin()
    await waitFor(() => dead.length === 1 && consumer.counters().handled === 299)
    expect(dead).toEqual(['ws_1 line100 100'])
    const failing = attempts.filter((events) => events.includes('ws_1 line100 100'))
    // 256, 128, …, 1, and four times alone.
    expect(failing.length).toBeLessThanOrEqual(9 + 4)
    expect(attempts.length).toBeLessThanOrEqual(2 * 9 + 4 + 4)
    await allAcknowledged()
  })

  test('blocks later events of its queue key, also those that arrive meanwhile', async () => {
    const seen: string[] = []
    let failures = 3
    consume({
      async handle(events) {
        if (events.some((event) => event === 'ws_1 a 1') && failures-- > 0) throw new Error('not yet')
        seen.push(...events)
      },
    })
    await publish('ws_1 a 1')
    await waitFor(() => failures < 3)
    await publish('ws_1 a 2', 'ws_1 b 1')
    await waitFor(() => seen.length === 3)
    expect(seen.indexOf('ws_1 a 1')).toBeLessThan(seen.indexOf('ws_1 a 2'))
    await allAcknowledged()
  })

  test('of one workspace leaves room for other workspaces, however many such events there are', async () => {
    const seen = new Set<string>()
    const dead = new Set<string>()
    consume({
      maxAckPending: 40,
      retry: { baseMs: 600_000, maxMs: 600_000 },
      onDead: async (message) => void dead.add(message.string()),
      async handle(events) {
        if (events.some((event) => event.startsWith('ws_bad'))) throw new Error('cannot be handled')
        for (const event of events) seen.add(event)
      },
    })
    await publish(...numbered(200, 'ws_bad'), ...numbered(200, 'ws_good'))
    await waitFor(() => seen.size === 200)
    expect(dead.size).toBeGreaterThanOrEqual(190)
    expect((await info()).num_ack_pending).toBeLessThanOrEqual(40)
  })
})

describe('a consumer that is interrupted', () => {
  /** How often the consumer has started requesting messages. */
  let starts: number
  let seen: string[]
  beforeEach(() => {
    starts = 0
    seen = []
  })
  const listen = (own: NatsLink = link) =>
    consume({
      link: own,
      prepare: async () => void starts++,
      handle: async (events) => void seen.push(...events),
    })

  test('reads buffered messages first after its process was blocked, and does not assume a lost connection', async () => {
    listen()
    await publish('ws_1 a 1')
    await waitFor(() => seen.length === 1)
    // On a busy machine the server itself may be silent for a second, but not every time.
    const undisturbed = async (round: number) => {
      const before = starts
      for (const end = Date.now() + 3_000; Date.now() < end; );
      await publish(`ws_1 a ${round}`)
      await waitFor(() => seen.includes(`ws_1 a ${round}`))
      return starts === before
    }
    let rounds = 2
    while (!(await undisturbed(rounds)) && rounds < 8) rounds++
    expect(rounds).toBeLessThan(8)
  })

  test('continues when a server that was suspended resumes', async () => {
    listen()
    await publish('ws_1 a 1')
    await waitFor(() => seen.length === 1)
    process.kill(server.pid, 'SIGSTOP')
    const resume = setTimeout(() => process.kill(server.pid, 'SIGCONT'), 3_000)
    closing.push({
      close: async () => {
        clearTimeout(resume)
        // The messages may have been published before the signal took effect, and then nothing has waited for
        // the server
        // to resume.
        process.kill(server.pid, 'SIGCONT')
      },
    })
    await publish('ws_1 a 2')
    await waitFor(() => seen.length === 2)
    expect(new Set(seen).size).toBe(2)
  })

  test('repeats its requests when they are lost', async () => {
    // More than one request returns. Published first, because a request that waits for a message may stay open for
    // minutes.
    await publish(...numbered(1_500))
    const proxy = await swallowingProxy(server.port)
    closing.push(proxy)
    const own = connectNats({ url: `nats://127.0.0.1:${proxy.port}`, name: 'cut-off', log })
    closing.push(own)
    listen(own)
    await waitFor(() => {
      const { size } = new Set(seen)
      if (size < 1_500) throw new Error(`${size} seen, ${proxy.swallowed} swallowed, ${starts} starts`)
      return true
    })
    expect(proxy.swallowed).toBe(3)
  })
})

interface SwallowingProxy {
  port: number
  /** Number of dropped requests for messages. */
  swallowed: number
  close(): Promise<void>
}

/** A proxy between client and server that drops the second to fourth request for messages. */
async function swallowingProxy(target: number): Promise<SwallowingProxy> {
  const sockets = new Set<Socket>()
  const proxy = { port: 0, swallowed: 0 }
  let requests = 0
  const listening: Server = createServer((client) => {
    const upstream = connectSocket({ host: '127.0.0.1', port: target })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.pipe(client)
    client.on('data', (chunk) => {
      const [request] = /PUB \$JS\.API\.CONSUMER\.MSG\.NEXT.*\r\n.*\r\n/.exec(chunk.toString('latin1')) ?? []
      if (request === undefined || requests++ === 0 || proxy.swallowed === 3) {
        upstream.write(chunk)
        return
      }
      proxy.swallowed++
      upstream.write(Buffer.from(chunk.toString('latin1').replace(request, ''), 'latin1'))
    })
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const address = listening.address()
  if (typeof address === 'object' && address) proxy.port = address.port
  return Object.assign(proxy, {
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listening.close(resolve))
    },
  })
}
