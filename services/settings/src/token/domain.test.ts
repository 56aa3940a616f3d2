import { describe, expect, it } from '@jest/globals'
import { TokenState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { token, validityEnd } from './domain.js'
import {
  active,
  afterOverlap,
  create,
  createdAt,
  now,
  overlapEnd,
  revoked,
  rotated,
  session,
  successorId,
} from './sample-tokens.js'

const { given } = specify(token)
const rotate = { kind: 'rotate' as const, successorId, issuer: session, validUntil: overlapEnd, now }

describe('creating', () => {
  it('keeps what is granted and the hash', () => {
    given(null).when(create).emits({ type: 'token.created', changes: active })
  })

  it('refuses an id that is taken', () => {
    given(active).when(create).fails('conflict')
  })

  it('never shows the hash', () => {
    expect(() => TokenState.strict().parse(token.expose(active))).not.toThrow()
    expect(JSON.stringify(token.expose(active))).not.toContain(active.secretHash)
  })

  it('refuses an expiry that has passed', () => {
    given(null)
      .when({ ...create, grant: { ...create.grant, expiresAt: createdAt } })
      .fails('validation_failed')
  })
})

describe('what a key may issue', () => {
  const key = { ...session, tokenId: 'tok_01JZ8Q4D3N5W7X9Y2B4C6D8E0Z' }

  it('has no scope its issuer lacks', () => {
    given(null)
      .when({ ...create, grant: { ...create.grant, scopes: ['itsm:read', 'audit:read', 'secrets:read'] } })
      .fails('insufficient_scope', { missing: ['audit:read', 'secrets:read'] })
  })

  it.each([
    [null, 'refused'],
    [['staging', 'production'] as const, 'refused'],
    [['staging'] as const, 'issued'],
  ])('for %j by a key of staging is %s', (environments, expected) => {
    const outcome = given(null).when({
      ...create,
      grant: { ...create.grant, environments: environments && [...environments] },
      issuer: { ...key, environments: ['staging'] },
    })
    if (expected === 'refused') outcome.fails('environment_forbidden')
    else expect(outcome.decisions()).toHaveLength(1)
  })

  it.each([
    [null, 'refused'],
    ['2026-04-01T00:00:00.001Z', 'refused'],
    ['2026-04-01T00:00:00.000Z', 'issued'],
  ])('that ends %s by a key that ends on April 1st is %s', (expiresAt, expected) => {
    const outcome = given(null).when({
      ...create,
      grant: { ...create.grant, expiresAt },
      issuer: { ...key, expiresAt: '2026-04-01T00:00:00.000Z' },
    })
    if (expected === 'refused') outcome.fails('validation_failed')
    else expect(outcome.decisions()).toHaveLength(1)
  })
})

describe('rotating', () => {
  it('leaves the old key valid until the end of the overlap', () => {
    given(active).when(rotate).emits({ type: 'token.rotated', changes: rotated })
  })

  it('gives the successor all the old key was granted, under its own secret', () => {
    given(null)
      .when({
        kind: 'succeed',
        id: successorId,
        prefix: 'ops_key_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
        secretHash: 'b'.repeat(64),
        predecessor: rotated,
        issuedBy: rotated.id,
        now,
      })
      .emits({
        type: 'token.created',
        changes: {
          ...active,
          id: successorId,
          prefix: 'ops_key_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
          issuedBy: rotated.id,
          secretHash: 'b'.repeat(64),
          predecessorId: active.id,
          createdAt: now,
          updatedAt: now,
        },
      })
  })

  it('happens once per key', () => {
    given(rotated)
      .when(rotate)
      .fails('invalid_state_transition', {
        from: 'rotated',
        action: 'rotate',
        allowed: ['revoke'],
      })
    given(revoked).when(rotate).fails('invalid_state_transition')
    given({ ...active, expiresAt: now })
      .when(rotate)
      .fails('invalid_state_transition')
  })

  it('of a key that allows more than the caller may do is refused, of the own key never', () => {
    const wide = { ...active, scopes: ['audit:read' as const] }
    given(wide).when(rotate).fails('insufficient_scope')
    given(wide)
      .when({ ...rotate, issuer: { ...session, tokenId: wide.id, permissions: [] } })
      .emits({
        type: 'token.rotated',
        changes: { status: 'rotated', successorId, validUntil: overlapEnd, updatedAt: now },
      })
  })
})

describe('revoking', () => {
  const revoke = { kind: 'revoke' as const, reason: 'requested' as const, now }

  it('ends active and rotated keys', () => {
    given(active).when(revoke).emits({ type: 'token.revoked', changes: revoked })
    given(rotated)
      .when(revoke)
      .emits({
        type: 'token.revoked',
        changes: { status: 'revoked', revokedAt: now, revocationReason: 'requested', updatedAt: now },
      })
  })

  it('can be repeated', () => {
    given(revoked).when(revoke).emits()
  })
})

describe('a key that is used again', () => {
  const detect = (at: string) => ({ kind: 'detect_reuse' as const, now: at })

  it('after the overlap ends for good and names its successor', () => {
    given(rotated)
      .when(detect(afterOverlap))
      .emits({
        type: 'token.reuse_detected',
        changes: {
          status: 'revoked',
          revokedAt: afterOverlap,
          revocationReason: 'reuse_detected',
          updatedAt: afterOverlap,
        },
        extras: { successorId },
      })
  })

  it('within the overlap, or once revoked, changes nothing', () => {
    given(rotated).when(detect('2026-03-02T10:00:59.999Z')).emits()
    given(revoked).when(detect(afterOverlap)).emits()
    given(active).when(detect(afterOverlap)).emits()
  })
})

describe('the end of validity', () => {
  it.each([
    [null, null, null],
    ['2026-05-01T00:00:00.000Z', null, '2026-05-01T00:00:00.000Z'],
    [null, overlapEnd, overlapEnd],
    ['2026-05-01T00:00:00.000Z', overlapEnd, overlapEnd],
    [now, overlapEnd, now],
  ])('expiry %s and overlap %s: %s', (expiresAt, validUntil, expected) => {
    expect(validityEnd({ expiresAt, validUntil })).toBe(expected)
  })
})
