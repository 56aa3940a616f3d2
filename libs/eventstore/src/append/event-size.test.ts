import { expect, test } from '@jest/globals'
import { systemActor } from '@opsplane/contracts'
import { checkSizes, maxDataBytes, maxRecordBytes } from './event-size.js'

const person = { id: 'usr_1', name: 'Ann', type: 'user' } as const
/** A record whose JSON is `bytes` bytes long. */
const record = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
const event = (before: object | null, after: object | null, extras: object = {}) => ({
  data: JSON.stringify({ before, after, changes: ['text'], ...extras }),
})
const check = (...events: { data: string }[]) => {
  return () => checkSizes(events, person)
}
const tooLarge = expect.objectContaining({
  code: 'payload_too_large',
  details: [expect.objectContaining({ code: 'record_too_large' })],
})

test('applies the record size limit separately to the states before and after', () => {
  expect(check(event(null, record(maxRecordBytes)))).not.toThrow()
  expect(check(event(record(maxRecordBytes), record(maxRecordBytes)))).not.toThrow()
  expect(check(event(null, record(maxRecordBytes + 1)))).toThrow(tooLarge)
})

test('measures a record in bytes of its JSON, where a control character has six bytes', () => {
  const title = '\u0001'.repeat(maxRecordBytes / 6)
  expect(title.length).toBeLessThan(maxRecordBytes)
  expect(check(event(null, { title }))).toThrow(tooLarge)
  expect(check(event(null, { title: '漢'.repeat(maxRecordBytes / 3) }))).toThrow(tooLarge)
})

test('an oversized record can be kept, shrunk or deleted, but not enlarged', () => {
  const large = record(maxRecordBytes + 1_000)
  expect(check(event(large, record(maxRecordBytes + 999)))).not.toThrow()
  expect(check(event(large, large))).not.toThrow()
  expect(check(event(large, null))).not.toThrow()
  expect(check(event(large, record(maxRecordBytes + 1_001)))).toThrow(tooLarge)
})

test('rejects any event of a batch that is larger than a message, including its extra fields', () => {
  const small = event(null, record(100))
  const rest = maxDataBytes - small.data.length
  expect(check(small, event(null, record(100), { comment: 'x'.repeat(rest - 20) }))).not.toThrow()
  expect(check(small, event(null, record(100), { comment: 'x'.repeat(rest) }))).toThrow(tooLarge)
})

test('does not reject oversized events of the platform itself', () => {
  expect(() => checkSizes([event(null, record(2 * maxDataBytes))], systemActor)).not.toThrow()
})
