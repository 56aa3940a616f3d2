import { describe, expect, test } from '@jest/globals'
import { formatSequence } from './stream-sequences.js'

const created = '2026-03-01T10:00:00.5Z'
const message = (seq: number, stored: string) => ({ seq, storedMs: Date.parse(stored) })

describe('the formatted sequence of a message', () => {
  test('names the stream by its creation time, in one form whatever its precision', () => {
    const place = '2026-03-01T10:00:00.500Z/00000000000000000007'
    expect(formatSequence(message(7, '2026-03-01T11:00:00Z'), created)).toBe(place)
    expect(formatSequence(message(7, '2026-03-01T11:00:00Z'), '2026-03-01T10:00:00.500000123Z')).toBe(place)
  })

  test('sorts by sequence, and after all messages of an earlier stream', () => {
    const later = '2026-03-02T00:00:00.123456789Z'
    const inOrder = [
      formatSequence(message(9, '2026-03-01T11:00:00Z'), created),
      ...[7, 1_000].map((position) =>
        formatSequence({ ...message(position, '2026-03-01T10:30:00Z'), after: 9 }, created),
      ),
      formatSequence(message(10, '2026-03-01T11:00:00Z'), created),
      formatSequence(message(1_000_000, '2026-03-01T12:00:00Z'), created),
      formatSequence(message(1, '2026-03-02T00:00:01Z'), later),
    ]
    expect([...inOrder].reverse().sort()).toEqual(inOrder)
  })

  test('sorts a message left over from an earlier stream before all of the present one', () => {
    const left = formatSequence(message(500, '2026-03-01T09:00:00Z'), created)
    expect(left < formatSequence(message(1, '2026-03-01T10:00:01Z'), created)).toBe(true)
  })
})
