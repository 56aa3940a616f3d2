import { describe, expect, test } from '@jest/globals'
import { toStoredResponse } from './stored-response.js'

const secret = 'sesame'
const kept = (type: string, body: string | Buffer, truncated = false) =>
  toStoredResponse({ headers: { 'content-type': type }, body: Buffer.from(body as string), truncated }, [
    secret,
  ])

describe('the stored part of an answer', () => {
  test.each<[string, string, string | Buffer, string]>([
    ['of JSON has no values named as secrets are', 'application/json', '{"token":"x"}', '{"token":"***"}'],
    ['of JSON has the digits it had', 'application/json', '{"n":1.10,"pin":2}', '{"n":1.10,"pin":2}'],
    ['of JSON has no secret of the request', 'application/json', '{"is":"sesame"}', '{"is":"***"}'],
    [
      'of JSON has none in a key that comes again',
      'application/json',
      '{"a":"sesame","a":1}',
      '{"a":"***","a":1}',
    ],
    [
      'of text is read by its charset',
      'text/plain; charset=latin1',
      Buffer.from('gr\xfcn', 'latin1'),
      'grün',
    ],
    ['of text in UTF-16 has no secret', 'text/plain', Buffer.from('\ufeffa sesame', 'utf16le'), 'a ***'],
    ['of what is no text can be stored', 'image/png', Buffer.from([0x61, 0, 0xff]), 'a\ufffd\ufffd'],
  ])('%s', (_, type, body, expected) => {
    expect(kept(type, body).body).toBe(expected)
  })

  test('contains no part of a secret where it is truncated', () => {
    expect(kept('application/json', '{"is":"sesa', true).body).toBe('{"is":"***')
  })

  test('contains no values of headers with secret names', () => {
    const headers = { 'set-cookie': 'id=1', 'x-echo': `Bearer ${secret}`, 'x-plain': 'a' }
    expect(toStoredResponse({ headers, body: Buffer.alloc(0), truncated: false }, [secret])).toEqual({
      headers: { 'set-cookie': '***', 'x-echo': 'Bearer ***', 'x-plain': 'a' },
      body: '',
    })
  })
})
