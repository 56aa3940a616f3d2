import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { JetStreamApiError } from '@nats-io/jetstream'
import { connect, headers, type NatsConnection, TimeoutError } from '@nats-io/transport-node'
import { openAckInbox } from './ack-inbox.js'

let connection: NatsConnection
beforeAll(async () => {
  connection = await connect({ servers: new URL(process.env.TEST_NATS_URL ?? '').host })
})
afterAll(() => connection.close())

test('a message that the cluster has not committed yet does not count as published', async () => {
  const answers = [
    { stream: 'S', seq: 0, duplicate: true },
    { stream: 'S', seq: 7, duplicate: true },
  ]
  connection.subscribe('undecided', {
    callback: (_, message) => void message.respond(JSON.stringify(answers.shift())),
  })
  const inbox = openAckInbox(connection, 60_000)
  const publish = () => inbox.publish('undecided', '{}', headers())
  await expect(publish()).rejects.toBeInstanceOf(JetStreamApiError)
  expect(await publish()).toEqual({ sequence: 7, duplicate: true })
  inbox.close()
})

test('publishes that are pending at close, or start later, fail immediately', async () => {
  connection.subscribe('silent', { callback: () => {} })
  const inbox = openAckInbox(connection, 60_000)
  const waiting = expect(inbox.publish('silent', '{}', headers())).rejects.toBeInstanceOf(TimeoutError)
  inbox.close()
  await waiting
  await expect(inbox.publish('silent', '{}', headers())).rejects.toBeInstanceOf(TimeoutError)
})
