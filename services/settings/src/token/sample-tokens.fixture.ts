import type { ApiKey, CreateToken } from './domain.js'
import type { Issuer } from './grant.js'

/** Examples for specs. */
export const createdAt = '2026-03-01T10:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const overlapEnd = '2026-03-02T10:01:00.000Z'
export const afterOverlap = '2026-03-02T10:01:00.001Z'

const id = 'tok_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
export const successorId = 'tok_01JZ8Q4D3N5W7X9Y2B4C6D8E0G'
const userId = 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'

/** A person at the console, with few permissions. */
export const consoleSession: Issuer = {
  tokenId: 'ses_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  permissions: ['itsm:read', 'itsm:write', 'tokens:manage'],
  environments: null,
  expiresAt: null,
}

export const createKeyCommand: CreateToken = {
  kind: 'create',
  id,
  prefix: 'ops_key_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  secretHash: 'a'.repeat(64),
  name: 'CI',
  userId,
  grant: { scopes: ['itsm:read'], environments: null, expiresAt: null },
  issuer: consoleSession,
  now: createdAt,
}

export const activeKey: ApiKey = {
  id,
  name: 'CI',
  prefix: createKeyCommand.prefix,
  userId,
  issuedBy: consoleSession.tokenId,
  scopes: ['itsm:read'],
  environments: null,
  expiresAt: null,
  secretHash: createKeyCommand.secretHash,
  status: 'active',
  predecessorId: null,
  successorId: null,
  validUntil: null,
  revokedAt: null,
  revocationReason: null,
  createdAt,
  updatedAt: createdAt,
}

export const rotatedKey: ApiKey = {
  ...activeKey,
  status: 'rotated',
  successorId,
  validUntil: overlapEnd,
  updatedAt: now,
}

export const revokedKey: ApiKey = {
  ...activeKey,
  status: 'revoked',
  revokedAt: now,
  revocationReason: 'requested',
  updatedAt: now,
}
