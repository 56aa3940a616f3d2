import { expect, test } from '@jest/globals'
import { eventExample } from '@opsplane/contracts'
import type { NatsLink, StreamMessage } from '@opsplane/nats'
import { eventReader } from './event-cache.js'

const link = () => ({}) as NatsLink
const twoReaders = (shared = link()) => [eventReader(shared), eventReader(shared)] as const
/** A message that counts how often it is parsed. */
const message = (overrides: Partial<StreamMessage> = {}) => {
  const counted = { parses: 0 }
  const string = () => {
    counted.parses++
    return JSON.stringify(eventExample('incident.created'))
  }
  const subject = 'evt.ws_1.production.incident.created'
  const fields = { stream: 'S', subject, seq: 1, storedMs: 5, bytes: 2_000, string, ...overrides }
  return { counted, message: fields as StreamMessage }
}

test('a message is parsed once for all consumers of a link', () => {
  const [one, other] = twoReaders()
  const [elsewhere] = twoReaders()
  const { counted, message: same } = message()
  const event = one.read(same)
  expect(other.read({ ...same })).toBe(event)
  expect(counted.parses).toBe(1)
  expect(elsewhere.read(same)).not.toBe(event)
})

test.each([
  ['another one', { seq: 2 }],
  ['one of a recreated stream', { storedMs: 6 }],
])('does not reuse the cached message for %s', (_what, overrides) => {
  const [one, other] = twoReaders()
  one.read(message().message)
  const { counted, message: later } = message(overrides)
  other.read(later)
  expect(counted.parses).toBe(1)
})

test('evicts a message once all consumers have read it', () => {
  const [one, other] = twoReaders()
  const { counted, message: same } = message()
  const event = one.read(same)
  other.read(same)
  expect(one.read(same)).not.toBe(event)
  expect(counted.parses).toBe(2)
})

test('does not cache a message for consumers of other subjects or for closed consumers', () => {
  const shared = link()
  const one = eventReader(shared)
  eventReader(shared, ['evt.*.*.change.>', 'evt.*.*.incident.closed'])
  const { counted, message: same } = message()
  expect(one.read(same)).not.toBe(one.read(same))
  const other = eventReader(shared, ['evt.*.*.incident.>'])
  expect(one.read(same)).toBe(other.read(same))
  other.close()
  expect(one.read(same)).not.toBe(one.read(same))
  expect(counted.parses).toBe(5)
})

test('does not cache large messages, and evicts old ones', () => {
  const [one, other] = twoReaders()
  const { counted, message: large } = message({ bytes: 100_000 })
  one.read(large)
  other.read(large)
  expect(counted.parses).toBe(2)

  const { counted: early, message: first } = message()
  one.read(first)
  for (let seq = 2; seq <= 600; seq++) one.read(message({ seq }).message)
  other.read(first)
  expect(early.parses).toBe(2)
})
