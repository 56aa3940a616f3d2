import { describe, expect, it } from '@jest/globals'
import { isValidAt, maxValidSecrets, rotateSecrets, type SealedSecret } from './secret-rotation.js'

const now = '2026-01-02T00:00:00.000Z'
const before = '2026-01-01T00:00:00.000Z'
const soon = '2026-01-02T01:00:00.000Z'
const later = '2026-01-03T00:00:00.000Z'
const secret = (sealed: string, expiresAt: string | null = null): SealedSecret => ({
  sealed,
  createdAt: before,
  expiresAt,
})
const rotate = (secrets: SealedSecret[], overlapUntil: string | null = later) =>
  rotateSecrets(secrets, { sealedSecret: 'new', now, overlapUntil })

describe('a secret rotation', () => {
  it('puts the new secret first and ends the replaced one after the overlap', () => {
    expect(rotate([secret('old')])).toEqual([
      { sealed: 'new', createdAt: now, expiresAt: null },
      { sealed: 'old', createdAt: before, expiresAt: later },
    ])
  })

  it('keeps earlier overlaps and removes expired secrets', () => {
    const kept = rotate([secret('old'), secret('older', soon), secret('oldest', now)])
    expect(kept.map(({ sealed, expiresAt }) => [sealed, expiresAt])).toEqual([
      ['new', null],
      ['old', later],
      ['older', soon],
    ])
  })

  it('without an overlap ends every earlier secret immediately', () => {
    expect(rotate([secret('old'), secret('older', soon)], null)).toMatchObject([{ sealed: 'new' }])
  })

  it('creates the first secret of a webhook without one', () => {
    expect(rotate([])).toEqual([{ sealed: 'new', createdAt: now, expiresAt: null }])
  })

  it('is rejected if more secrets would be valid than a request can carry', () => {
    const many = Array.from({ length: maxValidSecrets }, (_, index) => secret(`s${index}`, soon))
    expect(() => rotate(many)).toThrow(expect.objectContaining({ code: 'conflict' }))
    expect(rotate(many, null)).toHaveLength(1)
    expect(rotate([...many.slice(1), secret('ended', before)])).toHaveLength(maxValidSecrets)
  })
})

it('a secret is valid until the instant it expires', () => {
  expect(isValidAt(secret('s'), now)).toBe(true)
  expect(isValidAt(secret('s', soon), now)).toBe(true)
  expect(isValidAt(secret('s', now), now)).toBe(false)
})
