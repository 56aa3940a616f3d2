import { expect, it, test } from '@jest/globals'
import { totpCode } from '@opsplane/testing'
import { newRecoveryCode, recoveryCodeHash } from './recovery-codes.js'
import { resolveRelyingParty } from './relying-party.js'
import { newTotpSecret, totpStep, totpUri } from './totp.js'

const now = '2026-03-01T10:00:29.999Z'
const stepMs = 30_000
const nowStep = Math.floor(Date.parse(now) / stepMs)
const secret = newTotpSecret()
const codeAfter = (steps: number) => totpCode(secret, Date.parse(now) + steps * stepMs)

test('codes match RFC 6238', () => {
  // RFC 6238, appendix B: 59 s, in six digits.
  const known = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  expect(totpCode(known, 59_000)).toBe('287082')
  expect(totpStep(known, '287082', '1970-01-01T00:00:59.000Z')).toBe(1)
})

it.each([-1, 0, 1])('accepts a clock that is %i steps off, and returns the step of the code', (steps) => {
  expect(totpStep(secret, codeAfter(steps), now)).toBe(nowStep + steps)
})

it.each([-3, -2, 2, 3])('rejects a clock that is %i steps off', (steps) => {
  expect(totpStep(secret, codeAfter(steps), now)).toBeNull()
})

it.each(['', '12345', '1234567', 'abcdef', '١٢٣٤٥٦', ' 123456'])(
  'rejects %p, which is not a code',
  (code) => {
    expect(totpStep(secret, code, now)).toBeNull()
  },
)

test('a secret has 160 bits, and its URI contains the login', () => {
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  const uri = new URL(totpUri({ issuer: 'Opsplane', email: 'a+b@example.com', secret }))
  expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', secret])
  expect(decodeURIComponent(uri.pathname)).toBe('/Opsplane:a+b@example.com')
})

test('a recovery code has 80 bits, and its hash depends on the login but not on the spelling', () => {
  const code = newRecoveryCode()
  expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
  const hash = recoveryCodeHash('usr_1', code)
  expect(recoveryCodeHash('usr_1', ` ${code.toUpperCase().replaceAll('-', ' ')} `)).toBe(hash)
  expect(recoveryCodeHash('usr_2', code)).not.toBe(hash)
})

test.each([
  ['https://ops.example.com', 'ops.example.com'],
  ['https://ops.example.com:8443', 'ops.example.com'],
  ['http://localhost:8080', 'localhost'],
  ['http://ops.localhost:8080', 'ops.localhost'],
])('for the origin %s passkeys are bound to %s', (origin, id) => {
  expect(resolveRelyingParty(origin)).toEqual({ id, origin })
})

test.each([
  [undefined, 'PUBLIC_ORIGIN'],
  ['http://127.0.0.1:8080', 'localhost'],
  ['https://192.0.2.1', '192.0.2.1'],
  ['http://[::1]:8080', '[::1]'],
  ['http://ops.example.com', 'https'],
])('for the origin %s passkeys are unavailable, and the reason mentions %s', (origin, named) => {
  expect(resolveRelyingParty(origin)).toEqual({ reason: expect.stringContaining(named) })
})
