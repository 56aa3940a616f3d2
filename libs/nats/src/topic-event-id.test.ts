import { describe, expect, test } from '@jest/globals'
import { idSchema } from '@opsplane/contracts'
import { parseTopicEventId, topicEventId } from './topic-event-id.js'

const stream = '2025-01-02T03:04:05.123456789Z'
const subject = 'bus.ws_1.production.orders'
const createdAtMs = Date.parse('2026-05-06T07:08:09.123Z')

describe('the id of a topic event', () => {
  test.each([1, 31, 2 ** 32, 2 ** 48 - 1])('decodes to sequence %p', (sequence) => {
    const id = topicEventId(stream, subject, { createdAtMs, sequence })
    expect(idSchema('event').safeParse(id).success).toBe(true)
    expect(parseTopicEventId(stream, subject, id)).toEqual({ createdAtMs, sequence })
    expect(topicEventId(stream, subject, { createdAtMs, sequence })).toBe(id)
  })

  test('sorts by time, and is unique within a millisecond', () => {
    const later = topicEventId(stream, subject, { createdAtMs: createdAtMs + 1, sequence: 1 })
    const ids = Array.from({ length: 1_000 }, (_, sequence) =>
      topicEventId(stream, subject, { createdAtMs, sequence }),
    )
    expect(new Set(ids).size).toBe(1_000)
    expect(ids.every((id) => id < later)).toBe(true)
  })

  test('is invalid for another stream or subject, and once it is altered', () => {
    const id = topicEventId(stream, subject, { createdAtMs, sequence: 7 })
    expect(parseTopicEventId(`${stream}.`, subject, id)).toBeUndefined()
    expect(parseTopicEventId(stream, `${subject}.paid`, id)).toBeUndefined()
    for (let at = 4; at < id.length; at++) {
      const other = id[at] === '1' ? '2' : '1'
      const changed = `${id.slice(0, at)}${other}${id.slice(at + 1)}`
      expect(parseTopicEventId(stream, subject, changed)).toBeUndefined()
    }
  })

  test.each(['', 'evt_', 'evt_8ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'evt_01j00000000000000000000000', 'inc_1'])(
    'cannot be decoded from %p',
    (text) => expect(parseTopicEventId(stream, subject, text)).toBeUndefined(),
  )
})
