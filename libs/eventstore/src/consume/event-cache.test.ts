import { expect, test } from '@jest/globals'
import { eventExample } from '@opsplane/contracts'
import type { NatsLink, StreamMessage } from '@opsplane/nats'
import { eventOf } from './event-cache.js'

const link = () => ({}) as NatsLink
/** Counts how often it is parsed. */
const message = (overrides: Partial<StreamMessage> = {}) => {
  const counted = { parses: 0 }
  const string = () => {
    counted.parses++
    return JSON.stringify(eventExample('incident.created'))
  }
  const fields = { stream: 'S', seq: 1, storedMs: 5, bytes: 2_000, string, ...overrides }
  return { counted, message: fields as StreamMessage }
}

test('a message is parsed once for all consumers of a link', () => {
  const [one, other] = [link(), link()]
  const { counted, message: same } = message()
  const event = eventOf(one, same)
  expect(eventOf(one, { ...same })).toBe(event)
  expect(counted.parses).toBe(1)
  expect(eventOf(other, same)).not.toBe(event)
})

test.each([
  ['another one', { seq: 2 }],
  ['one of a stream made anew', { storedMs: 6 }],
])('%s is not taken for it', (_what, overrides) => {
  const shared = link()
  eventOf(shared, message().message)
  const { counted, message: later } = message(overrides)
  eventOf(shared, later)
  expect(counted.parses).toBe(1)
})

test('what is large, or long ago, is not kept', () => {
  const shared = link()
  const { counted, message: large } = message({ bytes: 100_000 })
  eventOf(shared, large)
  eventOf(shared, large)
  expect(counted.parses).toBe(2)

  const { counted: early, message: first } = message()
  eventOf(shared, first)
  for (let seq = 2; seq <= 600; seq++) eventOf(shared, message({ seq }).message)
  eventOf(shared, first)
  expect(early.parses).toBe(2)
})
