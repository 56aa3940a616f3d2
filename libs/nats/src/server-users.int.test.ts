import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { changeSignals, natsNames, type ServiceName, serviceNames } from '@opsplane/contracts'
import { createLogger, sha256Hex } from '@opsplane/runtime'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import { ensureConsumer } from './ensure-consumer.js'
import { publishHint } from './hints.js'
import { connectNats, type NatsLink } from './link.js'
import { objectStreamName, openObjectBucket } from './object-bucket.js'
import { acknowledgements } from './pull/acknowledgements.js'
import { openPull } from './pull/pull.js'
import { buildUserUrl, formatAuthorization, natsUsers } from './server-users.js'
import { streamLog } from './stream-log.js'
import { streamTail } from './stream-tail.js'
import { ensureStreams } from './streams.js'
import { longTimeout, waitFor } from './wait-for.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
const names = natsNames()
const stream = names.eventsStream
const subject = 'evt.ws_1.production.incident.created'
const storeDir = mkdtempSync(join(tmpdir(), 'nats-users-'))
const subscriber = { name: 'acme', password: 'sub-secret', durable: 'acme-incidents' }
const passwords = Object.fromEntries([...serviceNames, 'operator'].map((name) => [name, `${name}-secret`]))
const users = natsUsers({ names, passwords, subscribers: [subscriber] })
const links = new Map<string, NatsLink>()
let server: EmbeddedNats

const objectOf = (name: string, bytes: Buffer) => ({ name, bytes, sha256: sha256Hex(bytes) })
const linkOf = (user: string) => {
  const password = user === 'sub_acme' ? subscriber.password : `${user}-secret`
  const link =
    links.get(user) ?? connectNats({ url: buildUserUrl(server.url, { user, password }), name: user, log })
  links.set(user, link)
  return link
}
const as = (user: string): Promise<NatsConnection> => linkOf(user).ready()
const managerOf = async (user: string) =>
  jetstreamManager(await as(user), { checkAPI: false, ...longTimeout })
const denied = /permissions violation/i

beforeAll(async () => {
  server = await startEmbeddedNats({
    storeDir,
    synced: false,
    authorization: () => formatAuthorization(users),
  })
})
afterAll(async () => {
  for (const link of links.values()) await link.close()
  await server?.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

test('rejects a connection without a password, or with that of another user', async () => {
  const stranger = connectNats({ url: server.url, name: 'stranger', log })
  const impostor = connectNats({
    url: buildUserUrl(server.url, { user: 'settings', password: 'itsm-secret' }),
    name: 'impostor',
    log,
  })
  await as('operator')
  expect([stranger.connected(), impostor.connected()]).toEqual([false, false])
  await Promise.all([stranger.close(), impostor.close()])
})

test('every service with a log creates a missing stream, publishes, and consumes with its own durables', async () => {
  for (const user of ['settings', 'itsm', 'dispatcher']) {
    const link = linkOf(user)
    await ensureStreams(link, names)
    const connection = await link.ready()
    expect(await jetstream(connection, longTimeout).publish(subject, '{}')).toMatchObject({ stream })
    expect(await (await managerOf(user)).streams.getMessage(stream, { seq: 1 })).toMatchObject({ subject })
    await (await managerOf('operator')).streams.delete(stream)
  }
  await ensureStreams(linkOf('itsm'), names)
  const connection = await as('itsm')
  await jetstream(connection, longTimeout).publish(subject, '{"n":1}')
  const durable = 'itsm-incident-timers'
  await ensureConsumer(connection, { stream, durable, filterSubjects: [subject] })
  const text = await new Promise<string>((resolve) => {
    const pull = openPull({
      ...{ connection, stream, durable, acks: acknowledgements(() => {}) },
      capacity: () => ({ messages: 1, bytes: 1_000_000, isWhole: true }),
      onMessage(message) {
        message.ack()
        resolve(message.string())
        void pull.close()
      },
    })
  })
  expect(text).toBe('{"n":1}')
  const operator = await managerOf('operator')
  await waitFor(async () => (await operator.consumers.info(stream, durable)).num_ack_pending === 0)
  expect(await (await managerOf('itsm')).consumers.delete(stream, durable)).toBe(true)
})

test('analytics stores objects of exports, and leaves nothing of those it removes', async () => {
  const { exportsBucket } = names
  const options = { bucket: exportsBucket, description: 'Files', maxBytes: -1, replicas: 1 }
  const objects = openObjectBucket(linkOf('analytics'), options)
  const { signal } = new AbortController()
  const content = Buffer.alloc(1_500_000, 'export ')
  await objects.put(objectOf('exp_1/1', content), signal)
  await objects.put(objectOf('exp_1/1', content), signal)
  await objects.put(objectOf('exp_1/2', Buffer.from('second')), signal)
  expect(content.equals((await objects.get('exp_1/1', signal)) ?? Buffer.alloc(0))).toBe(true)
  expect(Buffer.from((await objects.get('exp_1/2', signal)) ?? []).toString()).toBe('second')
  for (const name of ['exp_1/1', 'exp_1/2', 'exp_1/2']) await objects.remove(name)
  expect(await objects.get('exp_1/1', signal)).toBeUndefined()
  const { state } = await (await managerOf('operator')).streams.info(objectStreamName(exportsBucket))
  expect(state.messages).toBe(0)
})

describe('a service is denied permission', () => {
  test.each<[string, ServiceName, (manager: JetStreamManager) => Promise<unknown>]>([
    ['to purge the log', 'itsm', (manager) => manager.streams.purge(stream)],
    ['to delete it', 'settings', (manager) => manager.streams.delete(stream)],
    ['to change it', 'dispatcher', (manager) => manager.streams.update(stream, { max_msgs: 1 })],
    ['to delete a message', 'itsm', (manager) => manager.streams.deleteMessage(stream, 1)],
    [
      "to delete another's consumer",
      'itsm',
      (manager) => manager.consumers.delete(stream, 'settings-audit-log'),
    ],
    [
      "to make another's consumer",
      'itsm',
      (manager) =>
        manager.consumers.add(stream, {
          durable_name: 'settings-audit-log',
          ack_policy: 'explicit' as never,
        }),
    ],
    [
      "to see another's consumer",
      'settings',
      (manager) => manager.consumers.info(stream, 'itsm-incident-timers'),
    ],
    [
      'to read the files of exports',
      'itsm',
      (manager) => manager.direct.getMessage(objectStreamName(names.exportsBucket), { seq: 1 }),
    ],
    [
      'to delete all of them at once',
      'analytics',
      (manager) => manager.streams.delete(objectStreamName(names.exportsBucket)),
    ],
    [
      'to have the server write files to a subject',
      'analytics',
      (manager) =>
        manager.consumers.add(objectStreamName(names.exportsBucket), {
          deliver_subject: 'bus.ws_1.production.orders',
          ack_policy: 'none' as never,
        }),
    ],
    ['to read topics', 'itsm', (manager) => manager.streams.getMessage(names.topicsStream, { seq: 1 })],
    ['to list streams', 'itsm', (manager) => manager.streams.list().next()],
    ['anything of the log to the gateway', 'gateway', (manager) => manager.streams.info(stream)],
  ])('%s', async (_what, user, work) => {
    await expect(managerOf(user).then(work)).rejects.toThrow(denied)
  })

  test.each([
    ['to publish to a topic', 'itsm', 'bus.ws_1.production.orders'],
    ['to publish as the gateway', 'gateway', subject],
    ["to acknowledge another's message", 'itsm', '$JS.ACK.PLATFORM_EVENTS.settings-audit-log.1.1.1.1.0'],
    ["to wake another's work", 'itsm', 'ops.wake.settings.relay'],
    ['to say that deliveries have changed', 'itsm', 'changed.ws_1.production'],
    ["to answer into another's inbox", 'itsm', '_INBOX_settings.x'],
  ])('%s', async (_what, user, to) => {
    await expect((await as(user)).request(to, '{}', longTimeout)).rejects.toThrow(denied)
  })

  test.each(['_INBOX.>', '_INBOX_settings.>', '$JS.>', 'evt.>', 'changed.>', '>'])(
    'to subscribe to %s',
    async (to) => {
      const connection = await as('itsm')
      const failure = new Promise<Error | null>((resolve) => {
        connection.subscribe(to, { callback: (error) => resolve(error) })
      })
      expect(String(await failure)).toMatch(denied)
    },
  )
})

test("a service starts with a stream of other settings, which only the operator's link changes", async () => {
  const lines: string[] = []
  const telling = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  })
  const age = async () => (await (await managerOf('operator')).streams.info(stream)).config.max_age / 1e6
  const before = await age()
  await ensureStreams(linkOf('itsm'), names, { eventsMaxAgeMs: 3_600_000, log: telling })
  expect([await age(), lines.join()]).toEqual([before, expect.stringContaining('max_age')])
  await ensureStreams(linkOf('operator'), names, { eventsMaxAgeMs: 3_600_000 })
  expect(await age()).toBe(3_600_000)
})

test('only the dispatcher has access to the topics stream: it appends to, reads and follows it', async () => {
  const link = linkOf('dispatcher')
  await ensureStreams(link, names)
  const topics = streamLog(link, names.topicsStream)
  const followed = new Promise<string>((resolve) => {
    const tail = streamTail({
      ...{ link, stream: names.topicsStream, log },
      onMessage(to) {
        resolve(to)
        void tail.close()
      },
      onReset: () => void topics.append('bus.ws_1.production.orders', '{}'),
    })
  })
  expect(await followed).toBe('bus.ws_1.production.orders')
  expect(await topics.next('bus.ws_1.production.orders', 1)).toMatchObject({ sequence: 1 })
  expect(await topics.last('bus.ws_1.production.orders')).toMatchObject({ sequence: 1 })
})

test('the gateway receives the events that change permissions, and no others', async () => {
  const connection = await as('gateway')
  const received: string[] = []
  connection.subscribe('evt.*.*.role.>', {
    callback: (_error, message) => void received.push(message.subject),
  })
  await connection.flush()
  await jetstream(await as('settings'), longTimeout).publish('evt.ws_1.production.role.updated', '{}')
  await waitFor(() => received.length > 0)
  expect(received).toEqual(['evt.ws_1.production.role.updated'])
})

test.each(changeSignals.publishers)(
  'settings receives the change signals of %s, for any tenant',
  async (publisher) => {
    const connection = await as('settings')
    const message = new Promise<string>((resolve) => {
      connection.subscribe(names.changedSubjects, {
        max: 1,
        callback: (error, { subject: on }) => resolve(error ? String(error) : on),
      })
    })
    await Promise.all([connection.flush(), as(publisher)])
    publishHint(linkOf(publisher), names.changedSubject({ workspaceId: 'ws_1', environment: 'staging' }))
    expect(await message).toBe('changed.ws_1.staging')
  },
)

test('a subscriber can read through its own durable, and do nothing else', async () => {
  const filterSubjects = ['evt.ws_1.production.>']
  await ensureConsumer(await as('operator'), { stream, durable: subscriber.durable, filterSubjects })
  const connection = await as('sub_acme')
  const message = await new Promise<string>((resolve) => {
    const pull = openPull({
      ...{ connection, stream, durable: subscriber.durable, acks: acknowledgements(() => {}) },
      capacity: () => ({ messages: 1, bytes: 1_000_000, isWhole: true }),
      onMessage(received) {
        received.ack()
        resolve(received.subject)
        void pull.close()
      },
    })
  })
  expect(message).toBe(subject)
  const manager = await managerOf('sub_acme')
  for (const work of [
    () => manager.streams.info(stream),
    () => manager.streams.getMessage(stream, { seq: 1 }),
    () =>
      manager.consumers.add(stream, { durable_name: subscriber.durable, ack_policy: 'explicit' as never }),
    () => manager.consumers.info(stream, 'itsm-incident-timers'),
    () => connection.request(subject, '{}', longTimeout),
  ])
    await expect(work()).rejects.toThrow(denied)
})
