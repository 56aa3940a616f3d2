import { describe, expect, it } from '@jest/globals'
import { TokenState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { token, validityEnd } from './domain.js'
import {
  activeKey,
  afterOverlap,
  consoleSession,
  createdAt,
  createKeyCommand,
  now,
  overlapEnd,
  revokedKey,
  rotatedKey,
  successorId,
} from './sample-tokens.fixture.js'

const { given } = specify(token)
const rotate = { kind: 'rotate' as const, successorId, issuer: consoleSession, validUntil: overlapEnd, now }

describe('creating a key', () => {
  it('stores the granted rights and the hash', () => {
    given(null).when(createKeyCommand).emits({ type: 'token.created', changes: activeKey })
  })

  it('rejects an id that is taken', () => {
    given(activeKey).when(createKeyCommand).fails('conflict')
  })

  it('never exposes the hash', () => {
    expect(() => TokenState.strict().parse(token.expose(activeKey))).not.toThrow()
    expect(JSON.stringify(token.expose(activeKey))).not.toContain(activeKey.secretHash)
  })

  it('rejects an expiry in the past', () => {
    given(null)
      .when({ ...createKeyCommand, grant: { ...createKeyCommand.grant, expiresAt: createdAt } })
      .fails('validation_failed')
  })
})

describe('an issued key', () => {
  const key = { ...consoleSession, tokenId: 'tok_01JZ8Q4D3N5W7X9Y2B4C6D8E0Z' }

  it('cannot have a scope that its issuer lacks', () => {
    given(null)
      .when({
        ...createKeyCommand,
        grant: { ...createKeyCommand.grant, scopes: ['itsm:read', 'audit:read', 'secrets:read'] },
      })
      .fails('insufficient_scope', { missing: ['audit:read', 'secrets:read'] })
  })

  it.each([
    [null, 'refused'],
    [['staging', 'production'] as const, 'refused'],
    [['staging'] as const, 'issued'],
  ])('for the environments %j by a key of staging is %s', (environments, expected) => {
    const outcome = given(null).when({
      ...createKeyCommand,
      grant: { ...createKeyCommand.grant, environments: environments && [...environments] },
      issuer: { ...key, environments: ['staging'] },
    })
    if (expected === 'refused') outcome.fails('environment_forbidden')
    else expect(outcome.decisions()).toHaveLength(1)
  })

  it.each([
    [null, 'refused'],
    ['2026-04-01T00:00:00.001Z', 'refused'],
    ['2026-04-01T00:00:00.000Z', 'issued'],
  ])('that expires at %s, by a key that expires on April 1st, is %s', (expiresAt, expected) => {
    const outcome = given(null).when({
      ...createKeyCommand,
      grant: { ...createKeyCommand.grant, expiresAt },
      issuer: { ...key, expiresAt: '2026-04-01T00:00:00.000Z' },
    })
    if (expected === 'refused') outcome.fails('validation_failed')
    else expect(outcome.decisions()).toHaveLength(1)
  })
})

describe('rotating a key', () => {
  it('leaves the old key valid until the end of the overlap', () => {
    given(activeKey).when(rotate).emits({ type: 'token.rotated', changes: rotatedKey })
  })

  it('grants the successor all rights of the old key, with its own secret', () => {
    given(null)
      .when({
        kind: 'succeed',
        id: successorId,
        prefix: 'ops_key_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
        secretHash: 'b'.repeat(64),
        predecessor: rotatedKey,
        issuedBy: rotatedKey.id,
        now,
      })
      .emits({
        type: 'token.created',
        changes: {
          ...activeKey,
          id: successorId,
          prefix: 'ops_key_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
          issuedBy: rotatedKey.id,
          secretHash: 'b'.repeat(64),
          predecessorId: activeKey.id,
          createdAt: now,
          updatedAt: now,
        },
      })
  })

  it('is possible once per key', () => {
    given(rotatedKey)
      .when(rotate)
      .fails('invalid_state_transition', {
        from: 'rotated',
        action: 'rotate',
        allowed: ['revoke'],
      })
    given(revokedKey).when(rotate).fails('invalid_state_transition')
    given({ ...activeKey, expiresAt: now })
      .when(rotate)
      .fails('invalid_state_transition')
  })

  it("is refused for a key with more rights than the caller, but never for the caller's own key", () => {
    const wide = { ...activeKey, scopes: ['audit:read' as const] }
    given(wide).when(rotate).fails('insufficient_scope')
    given(wide)
      .when({ ...rotate, issuer: { ...consoleSession, tokenId: wide.id, permissions: [] } })
      .emits({
        type: 'token.rotated',
        changes: { status: 'rotated', successorId, validUntil: overlapEnd, updatedAt: now },
      })
  })
})

describe('revoking a key', () => {
  const revoke = { kind: 'revoke' as const, reason: 'requested' as const, now }

  it('ends active and rotated keys', () => {
    given(activeKey).when(revoke).emits({ type: 'token.revoked', changes: revokedKey })
    given(rotatedKey)
      .when(revoke)
      .emits({
        type: 'token.revoked',
        changes: { status: 'revoked', revokedAt: now, revocationReason: 'requested', updatedAt: now },
      })
  })

  it('can be repeated', () => {
    given(revokedKey).when(revoke).emits()
  })
})

describe('a rotated key that is used again', () => {
  const detect = (at: string) => ({ kind: 'detect_reuse' as const, now: at })

  it('after the overlap is revoked permanently, and its successor is reported', () => {
    given(rotatedKey)
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

  it('within the overlap, or once revoked, remains unchanged', () => {
    given(rotatedKey).when(detect('2026-03-02T10:00:59.999Z')).emits()
    given(revokedKey).when(detect(afterOverlap)).emits()
    given(activeKey).when(detect(afterOverlap)).emits()
  })
})

describe('the end of validity', () => {
  it.each([
    [null, null, null],
    ['2026-05-01T00:00:00.000Z', null, '2026-05-01T00:00:00.000Z'],
    [null, overlapEnd, overlapEnd],
    ['2026-05-01T00:00:00.000Z', overlapEnd, overlapEnd],
    [now, overlapEnd, now],
  ])('with expiry %s and overlap %s is %s', (expiresAt, validUntil, expected) => {
    expect(validityEnd({ expiresAt, validUntil })).toBe(expected)
  })
})
