import {
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  invalidTransition,
  notFound,
  type RevocationReason,
  type TokenState,
} from '@opsplane/contracts'
import { checkWithinGrant, type Grant, type Issuer } from './grant.js'

/** An API key. Only the hash of its secret is stored, and the hash never leaves the service. */
export type ApiKey = TokenState & { secretHash: string }

interface KeyMaterial {
  id: string
  /** The start of the key, by which people recognise it. */
  prefix: string
  secretHash: string
  now: Instant
}

export interface CreateToken extends KeyMaterial {
  kind: 'create'
  name: string
  userId: string
  grant: Grant
  issuer: Issuer
}

/** Creates the successor of a rotated key, with the same grant. */
export interface SucceedToken extends KeyMaterial {
  kind: 'succeed'
  predecessor: ApiKey
  issuedBy: string
}

export interface RotateToken {
  kind: 'rotate'
  successorId: string
  issuer: Issuer
  /** End of the overlap, in which both keys are valid. */
  validUntil: Instant
  now: Instant
}

export interface RevokeToken {
  kind: 'revoke'
  reason: RevocationReason
  now: Instant
}

/** The key was presented after its rotation. */
export interface DetectReuse {
  kind: 'detect_reuse'
  now: Instant
}

export type TokenCommand = CreateToken | SucceedToken | RotateToken | RevokeToken | DetectReuse

/** Keys belong to a workspace; the environments they are valid in are part of their grant. */
export const token: Decider<ApiKey, TokenCommand, TokenState> = {
  resourceType: 'token',
  table: 'tokens',
  decide,
  expose: ({ secretHash: _, ...visible }) => visible,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: TokenCommand, state: ApiKey | null): Decision<ApiKey>[] {
  if (command.kind === 'create' || command.kind === 'succeed') {
    if (state !== null) throw alreadyExists('token')
    return [{ type: 'token.created', after: command.kind === 'create' ? issued(command) : heir(command) }]
  }
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'rotate':
      return rotate(command, state)
    case 'revoke':
      return state.status === 'revoked' ? [] : [revoked('token.revoked', command.reason, command.now, state)]
    case 'detect_reuse':
      return detectReuse(command, state)
    default:
      return assertNever(command)
  }
}

const unended = { successorId: null, validUntil: null, revokedAt: null, revocationReason: null }

function issued({ id, prefix, secretHash, now, name, userId, grant, issuer }: CreateToken): ApiKey {
  checkWithinGrant(grant, issuer, now)
  const { scopes, environments, expiresAt } = grant
  const issuedBy = issuer.tokenId
  const fields = { id, name, prefix, userId, issuedBy, scopes, environments, expiresAt, secretHash }
  return { ...fields, ...unended, status: 'active', predecessorId: null, createdAt: now, updatedAt: now }
}

function heir({ id, prefix, secretHash, now, predecessor, issuedBy }: SucceedToken): ApiKey {
  const own = {
    id,
    prefix,
    secretHash,
    issuedBy,
    predecessorId: predecessor.id,
    createdAt: now,
    updatedAt: now,
  }
  return { ...predecessor, ...unended, ...own, status: 'active' }
}

/** The caller who rotates a key receives its successor, which must therefore allow no more than the caller may do. */
function rotate({ successorId, issuer, validUntil, now }: RotateToken, state: ApiKey): Decision<ApiKey>[] {
  if (state.status !== 'active') {
    throw invalidTransition('rotate', state.status, state.status === 'rotated' ? ['revoke'] : [])
  }
  if (hasExpired(state, now)) throw invalidTransition('rotate', 'expired', ['revoke'])
  if (issuer.tokenId !== state.id) checkWithinGrant(state, issuer, now)
  return [
    {
      type: 'token.rotated',
      after: { ...state, status: 'rotated', successorId, validUntil, updatedAt: now },
    },
  ]
}

function detectReuse({ now }: DetectReuse, state: ApiKey): Decision<ApiKey>[] {
  if (state.status !== 'rotated' || !overlapIsOver(state, now)) return []
  const { successorId } = state
  return [{ ...revoked('token.reuse_detected', 'reuse_detected', now, state), extras: { successorId } }]
}

function revoked(type: string, reason: RevocationReason, now: Instant, state: ApiKey): Decision<ApiKey> {
  return {
    type,
    after: { ...state, status: 'revoked', revokedAt: now, revocationReason: reason, updatedAt: now },
  }
}

type Validity = Pick<TokenState, 'expiresAt' | 'validUntil'>

/** Whether the key has expired. */
export function hasExpired({ expiresAt }: Pick<Validity, 'expiresAt'>, now: Instant): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** Whether the key was rotated and its overlap has ended. */
export function overlapIsOver({ validUntil }: Pick<Validity, 'validUntil'>, now: Instant): boolean {
  return validUntil !== null && validUntil <= now
}

/** When the key expires: the earlier of its own expiry and the end of the overlap; `null`: never. */
export function validityEnd({ expiresAt, validUntil }: Validity): Instant | null {
  return earlierInstant(expiresAt, validUntil)
}

/** The earlier instant; `null` means never. */
export function earlierInstant(left: Instant | null, right: Instant | null): Instant | null {
  if (left === null) return right
  return right === null || left < right ? left : right
}
