import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { type DurableConsumer, durableConsumer } from './durable-consumer.js'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import type { EventSignatures } from './event-signatures.js'
import { connectNats, type NatsLink } from './link.js'
import { ensureStreams } from './streams.js'
import { longTimeout, waitFor } from './wait-for.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
const names = natsNames('back')
const stream = names.topicsStream
let storeDir: string
let server: EmbeddedNats
let link: NatsLink
let consumer: DurableConsumer | undefined
let seen: string[]

beforeEach(async () => {
  storeDir = mkdtempSync(join(tmpdir(), 'set-back-'))
  server = await startEmbeddedNats({ storeDir: join(storeDir, 'now') })
  const identity = { durables: ['test'], signatures: {} as EventSignatures }
  link = connectNats({ url: server.url, name: 'set-back', log, identity })
  await ensureStreams(link, names)
  seen = []
})
afterEach(async () => {
  await consumer?.close()
  await link.close()
  await server.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

const consume = () => {
  consumer = durableConsumer<string>({
    ...{ link, stream, durable: 'test', log },
    read: (message) => ({ event: message.string(), tenant: 'ws_1', queueKey: message.string() }),
    apply: async (batch) => void seen.push(...batch.map(({ event }) => event)),
    isAway: () => false,
  })
}
const publish = async (...bodies: string[]) => {
  const client = jetstream(await link.ready(), longTimeout)
  for (const body of bodies) await client.publish(names.topicSubject('ws_1', 'production', 'orders'), body)
}
const floor = async () =>
  (await (await jetstreamManager(await link.ready(), longTimeout)).consumers.info(stream, 'test')).ack_floor
    .stream_seq
const restart = async (between: () => void) => {
  await server.stop()
  await waitFor(() => !link.connected())
  between()
  server = await startEmbeddedNats({ storeDir: join(storeDir, 'now'), port: server.port })
  await waitFor(() => link.connected())
}
const messages = (of: string) => join(storeDir, of, 'jetstream/$G/streams', stream, 'msgs')

test('a consumer ahead of a stream that lost its end receives the messages that replace it', async () => {
  consume()
  await publish('1', '2', '3')
  await waitFor(async () => (await floor()) === 3)
  await restart(() => cpSync(messages('now'), messages('copy'), { recursive: true }))
  await publish('4', '5', '6')
  await waitFor(async () => (await floor()) === 6)
  await restart(() => {
    rmSync(messages('now'), { recursive: true })
    cpSync(messages('copy'), messages('now'), { recursive: true })
  })
  await publish('4 again', '5 again')
  await waitFor(() => seen.includes('5 again'))
  expect(seen).toContain('4 again')
})
