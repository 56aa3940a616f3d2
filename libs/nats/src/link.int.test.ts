import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { durableConsumer } from './durable-consumer.js'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import { NatsLinkClosedError, UnsupportedServerError } from './errors.js'
import { listenForHints } from './hints.js'
import { connectNats, type NatsLink } from './link.js'
import type { StreamMessage } from './stream-message.js'
import { ensureStreams } from './streams.js'
import { longTimeout, waitFor } from './wait-for.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
const names = natsNames('link')
const read = (message: StreamMessage) => ({
  event: message.string(),
  queueKey: String(message.seq),
  tenant: 'ws_1',
})

describe('a NATS link', () => {
  let storeDir: string
  let port: number
  let server: EmbeddedNats | undefined
  let link: NatsLink

  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'link-nats-'))
    port = await freePort()
    link = connectNats({ url: `nats://127.0.0.1:${port}`, name: 'link-test', log })
  })
  afterEach(async () => {
    await link.close()
    await server?.stop()
    server = undefined
    rmSync(storeDir, { recursive: true, force: true })
  })
  const start = async () => {
    server = await startEmbeddedNats({ storeDir, port, synced: false })
  }

  test('removes the hint listeners of closed connections', async () => {
    await start()
    const warnings: string[] = []
    const note = ({ name }: Error) => warnings.push(name)
    process.on('warning', note)
    let hints = 0
    const listening = listenForHints(link, 'hints', () => hints++)
    for (let connections = 1; connections <= 12; connections++) {
      await waitFor(() => hints === connections)
      await (await link.ready()).close()
    }
    await waitFor(() => hints === 13)
    await listening.close()
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('rejects a server that is too old, and connects once it is upgraded', async () => {
    const old = createServer((socket) => {
      socket.write(`INFO ${JSON.stringify({ server_id: 'old', version: '2.9.10', max_payload: 1 })}\r\n`)
      socket.on('data', (chunk) => {
        if (chunk.toString().includes('PING')) socket.write('PONG\r\n')
      })
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => old.listen(port, '127.0.0.1', resolve))
    await waitFor(() => link.failure() instanceof UnsupportedServerError)
    expect(link.connected()).toBe(false)
    expect(String(link.failure())).toContain('version 2.9.10, and Opsplane needs 2.14.0 or newer. Upgrade')
    await new Promise((resolve) => old.close(resolve))
    await start()
    await link.ready()
    expect(link.failure()).toBeUndefined()
  })

  test('connects to a server that starts later, and sets up the streams', async () => {
    expect(link.connected()).toBe(false)
    const streams = ensureStreams(link, names)
    await start()
    await streams
    expect(link.connected()).toBe(true)
    await ensureStreams(link, names, { eventsMaxAgeMs: 60_000_000, topicsMaxAgeMs: 60_000_000 })
    const manager = await jetstreamManager(await link.ready(), longTimeout)
    const { config } = await manager.streams.info(names.topicsStream)
    expect(config).toMatchObject({
      subjects: ['link.bus.>'],
      duplicate_window: 300e9,
      max_age: 60_000_000e6,
      storage: 'file',
    })
    expect((await manager.streams.info(names.eventsStream)).config.duplicate_window).toBe(600e9)
  })

  test('creates streams once when several replicas start together, and logs nothing for the others', async () => {
    await start()
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const replicaLog = createLogger({ service: 'test', level: 'info', destination })
    const manager = await jetstreamManager(await link.ready(), longTimeout)
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 8 }, () => ensureStreams(link, names, { log: replicaLog })))
      for (const stream of [names.eventsStream, names.topicsStream]) await manager.streams.delete(stream)
    }
    expect(lines).toEqual([])
  })

  test("keeps an operator's stream settings, except those that are given", async () => {
    await start()
    await ensureStreams(link, names)
    const manager = await jetstreamManager(await link.ready(), longTimeout)
    const { config } = await manager.streams.info(names.eventsStream)
    expect(config).toMatchObject({ max_bytes: -1, num_replicas: 1, max_age: 7 * 24 * 3_600e9 })
    const byHand = { max_age: 3_600e9, max_bytes: 5_000_000, max_msg_size: 1_000_000, duplicate_window: 60e9 }
    await manager.streams.update(names.eventsStream, { ...config, ...byHand, subjects: ['link.evt.few.>'] })

    await ensureStreams(link, names)
    const kept = (await manager.streams.info(names.eventsStream)).config
    expect(kept).toMatchObject({ ...byHand, duplicate_window: 600e9, subjects: ['link.evt.>'] })
    await ensureStreams(link, names, { eventsMaxAgeMs: 300_000, maxBytes: 9_000_000 })
    const { config: given } = await manager.streams.info(names.eventsStream)
    const age = { max_age: 300e9, duplicate_window: 300e9 }
    expect(given).toMatchObject({ ...age, max_bytes: 9_000_000, max_msg_size: 1_000_000 })
  })

  test('closes while it is still connecting, and rejects waiting callers', async () => {
    const waiting = link.ready()
    await link.close()
    await expect(waiting).rejects.toBeInstanceOf(NatsLinkClosedError)
    await expect(link.ready()).rejects.toBeInstanceOf(NatsLinkClosedError)
  })

  test('closes even if it reconnects to its server meanwhile', async () => {
    await start()
    const connection = await link.ready()
    const closed = link.close()
    await connection.reconnect()
    await closed
    expect(connection.isClosed()).toBe(true)
  })

  test('keeps a durable consumer running over restarts, and over the loss of all data', async () => {
    await start()
    await ensureStreams(link, names)
    const received: string[] = []
    const consumer = durableConsumer({
      link,
      stream: names.topicsStream,
      durable: 'reader',
      log,
      read,
      async apply(batch) {
        for (const { event } of batch) received.push(event)
      },
    })
    const publish = async (text: string) =>
      jetstream(await link.ready(), longTimeout).publish(
        names.topicSubject('ws_1', 'production', 'orders'),
        text,
      )
    const arrives = (text: string) => waitFor(() => received.includes(text))

    try {
      await publish('before')
      await arrives('before')
      await server?.stop()
      await waitFor(() => !link.connected())
      await start()
      await waitFor(() => link.connected())
      await publish('after a restart')
      await arrives('after a restart')

      await server?.stop()
      await waitFor(() => !link.connected())
      rmSync(storeDir, { recursive: true })
      await start()
      await waitFor(() => link.connected())
      await ensureStreams(link, names)
      await publish('after the loss')
      await arrives('after the loss')
      // A stopping server may miss an acknowledgement, and redeliver.
      expect([...new Set(received)]).toEqual(['before', 'after a restart', 'after the loss'])
    } finally {
      await consumer.close()
    }
  })

  test('collects messages that arrive during a batch into full batches', async () => {
    await start()
    await ensureStreams(link, names)
    const batches: string[][] = []
    let arrived = 0
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = durableConsumer({
      link,
      stream: names.topicsStream,
      durable: 'gatherer',
      log,
      maxBatch: 3,
      spacingMs: 5,
      read(message) {
        arrived++
        return read(message)
      },
      async apply(batch) {
        batches.push(batch.map(({ event }) => event))
        await released
      },
    })
    const client = jetstream(await link.ready(), longTimeout)
    const publish = (text: string) => client.publish(names.topicSubject('ws_1', 'production', 'orders'), text)
    const consumerInfo = async () => {
      const manager = await jetstreamManager(await link.ready(), longTimeout)
      return manager.consumers.info(names.topicsStream, 'gatherer')
    }
    try {
      await publish('1')
      await waitFor(() => batches.length === 1)
      for (const text of ['2', '3', '4', '5']) await publish(text)
      await waitFor(() => arrived === 5)
      release()
      await waitFor(async () => (await consumerInfo()).ack_floor.stream_seq === 5)
      expect(batches).toEqual([['1'], ['2', '3', '4'], ['5']])
    } finally {
      release()
      await consumer.close()
    }
  })
})
