import { describe, expect, test } from '@jest/globals'
import { type JsonValue, parseExact, stringifyExact } from '@opsplane/contracts'
import { maskValue, redactValue, secretsIn } from './masking.js'
import { createEchoRedaction, createRedaction } from './redaction.js'

const value = {
  number: 'INC-1234',
  next_token: 'page-0002',
  credentials: { pin: 1234, on: true, none: null, list: ['a', ''] },
  list: [{ 'X-Api-Key': 'key' }, 1234, { 1234: 'name' }],
}

describe('a value that is masked for display', () => {
  test('shows neither known secrets nor the values of fields named like secrets', () => {
    expect(maskValue(value, createRedaction(['1234']))).toEqual({
      number: 'INC-***',
      next_token: '***',
      credentials: { pin: '***', on: true, none: null, list: ['***', ''] },
      list: [{ 'X-Api-Key': '***' }, '***', { '***': 'name' }],
    })
  })

  test('is returned as the same object when it contains no secrets', () => {
    const plain = { a: [1, 'b', { c: null }], tokens: 3 }
    expect(maskValue(plain, createRedaction(['secret']))).toBe(plain)
  })

  test('keeps the digits of a number that exceeds double precision', () => {
    const exact = parseExact('{"n":12345678901234567890,"pin":{"token":12345678901234567891}}') as JsonValue
    const redact = createRedaction(['1234567890'])
    expect(stringifyExact(maskValue(exact, (text) => text))).toBe(
      '{"n":12345678901234567890,"pin":{"token":"***"}}',
    )
    expect(stringifyExact(maskValue(exact, redact))).toBe('{"n":"******","pin":{"token":"***"}}')
  })

  test('yields its secrets by the names of their fields', () =>
    expect(secretsIn(value)).toEqual(['page-0002', '1234', 'a', 'key']))

  test.each([
    ...[
      'password',
      'Password',
      'db_password',
      'clientSecret',
      'client-secret',
      'api_key',
      'apiKey',
      'X-API-Key',
    ],
    ...['accessToken', 'refresh_token', 'Authorization', 'Set-Cookie', 'private.key', 'credentials', 'token'],
  ])('treats %s as the name of a secret', (name) =>
    expect(maskValue({ [name]: 'x' }, (text) => text)).toEqual({ [name]: '***' }),
  )

  test.each(['tokens', 'secretary', 'passwordless', 'keys', 'author', 'name'])(
    'does not treat %s as the name of a secret',
    (name) => expect(maskValue({ [name]: 'x' }, (text) => text)).toEqual({ [name]: 'x' }),
  )
})

test('a value that is redacted for further processing keeps its fields, and shorter secrets', () => {
  const long = 'correct-horse-battery'
  const redact = createEchoRedaction(['1234', long])
  expect(redactValue({ ...value, echo: `is ${long}` }, redact)).toEqual({ ...value, echo: 'is ***' })
})
