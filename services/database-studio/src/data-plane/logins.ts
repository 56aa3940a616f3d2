import { createHash, randomBytes } from 'node:crypto'
import { hmacSha256 } from '@opsplane/runtime'
import { type SpaceRole, spaceRoleName } from './space.js'

export const spaceRoles = ['runtime', 'reader', 'migrator'] as const satisfies readonly SpaceRole[]

/** Every replica of every installation derives the same password from the same key. No tenant ever learns it. */
export const derivePassword = (key: Buffer, schema: string, role: SpaceRole): string =>
  hmacSha256(key, `login\n${spaceRoleName(schema, role)}`).toString('base64url')

/**
 * The SCRAM-SHA-256 verifier that Postgres stores for a password. One iteration is enough: the password is a 256-bit
 * key, which more iterations would not make harder to guess, and fewer iterations make logins faster.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = hmacSha256(password, Buffer.concat([salt, Buffer.from([0, 0, 0, 1])]))
  const stored = createHash('sha256').update(hmacSha256(salted, 'Client Key')).digest('base64')
  const server = hmacSha256(salted, 'Server Key').toString('base64')
  return `SCRAM-SHA-256$1:${salt.toString('base64')}$${stored}:${server}`
}

export const deriveVerifiers = (key: Buffer, schema: string): string[] =>
  spaceRoles.map((role) => scramVerifier(derivePassword(key, schema, role)))
