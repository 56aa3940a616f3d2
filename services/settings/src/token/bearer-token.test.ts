import { describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { issueToken, readToken } from './bearer-token.js'

describe('a token', () => {
  it.each([
    ['key', newId('token')],
    ['ses', newId('session')],
  ] as const)('of kind %s identifies its kind and id', (kind, id) => {
    const { plaintext, prefix, secretHash } = issueToken(kind, id)
    expect(plaintext).toMatch(/^ops_(key|ses)_[0-9A-Z]{26}_[0-9A-Za-z]{38}$/)
    expect(plaintext.startsWith(`${prefix}_`)).toBe(true)
    expect(readToken(plaintext)).toEqual({ kind, id, secretHash })
  })

  it('is refused with any one character changed', () => {
    const { plaintext } = issueToken('key', newId('token'))
    for (let index = 0; index < plaintext.length; index++) {
      const other = plaintext[index] === 'A' ? 'B' : 'A'
      expect(readToken(plaintext.slice(0, index) + other + plaintext.slice(index + 1))).toBeNull()
    }
  })

  it.each(['', 'ops_key_', 'Bearer x', 'eyJhbGciOiJFZERTQSJ9.e30.x'])('cannot be read from %j', (text) => {
    expect(readToken(text)).toBeNull()
  })

  it('is never issued twice', () => {
    const id = newId('token')
    const issued = Array.from({ length: 200 }, () => issueToken('key', id).plaintext)
    expect(new Set(issued).size).toBe(issued.length)
  })
})
