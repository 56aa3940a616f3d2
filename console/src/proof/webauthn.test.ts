import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decodeBase64Url, encodeBase64Url } from './webauthn.js'

test('bytes are encoded as the base64url of Node, and decoded again', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = encodeBase64Url(Uint8Array.from(bytes).buffer)
      expect(text).toBe(Buffer.from(bytes).toString('base64url'))
      expect([...decodeBase64Url(text)]).toEqual([...bytes])
    }),
  )
})
