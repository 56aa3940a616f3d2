import { createHash, randomBytes } from 'node:crypto'
import { hmacSha256 } from '@opsplane/runtime'
import { type SpaceRole, spaceRoleName } from './space.js'

export const spaceRoles = ['runtime', 'reader', 'migrator'] as const satisfies readonly SpaceRole[]

/** Every replica works out the same password, in whichever installation; no tenant ever learns it. */
export const derivePassword = (key: Buffer, schema: string, role: SpaceRole): string =>
  hmacSha256(key, `login\n${spaceRoleName(schema, role)}`).toString('base64url')

/**
 * What Postgres keeps of a password, as SCRAM-SHA-256 has it. One round is enough: the password is a key of 256 bits,
 * which no number of rounds makes harder to guess, and logins take that much less.
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
