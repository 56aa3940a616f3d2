import { expect, test } from '@jest/globals'
import { hmacSha256, hmacSha256Under, sha256Bytes } from './hash.js'

const message = Buffer.from(Array.from({ length: sha256Bytes }, (_, place) => place * 8))

test.each([0, 20, 32, 64])(
  'a key of %d bytes produces the same MAC when it is reused for many messages',
  (length) => {
    const key = Buffer.alloc(length, 0xe9)
    const macOf = hmacSha256Under(key, sha256Bytes)
    for (const bytes of [message, Buffer.alloc(sha256Bytes, 0xff), message])
      expect(Buffer.from(macOf(bytes.toString('binary')), 'binary')).toEqual(hmacSha256(key, bytes))
  },
)

test('rejects a key or a message of another length', () => {
  expect(() => hmacSha256Under(Buffer.alloc(65), sha256Bytes)).toThrow(RangeError)
  expect(() => hmacSha256Under(Buffer.alloc(32), sha256Bytes)('short')).toThrow(RangeError)
})
