import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { SpaceRole } from './space.js'

export const spaceRoles = ['runtime', 'reader', 'migrator'] as const satisfies readonly SpaceRole[]

/** The name of a login. */
export const roleName = (schema: string, role: SpaceRole): string => `${schema}_${role}`

/** Every replica works out the same password; no tenant ever learns it. */
export const passwordOf = (key: Buffer, schema: string, role: SpaceRole): string =>
  createHmac('sha256', key)
    .update(`login\n${roleName(schema, role)}`)
    .digest('base64url')

/**
 * What Postgres keeps of a password, as SCRAM-SHA-256 has it. One round is enough: the password is a key of 256 bits,
 * which no number of rounds makes harder to guess, and logins take that much less.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const hmac = (key: Buffer | string, data: Buffer | string) =>
    createHmac('sha256', key).update(data).digest()
  const salted = hmac(password, Buffer.concat([salt, Buffer.from([0, 0, 0, 1])]))
  const stored = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64')
  const server = hmac(salted, 'Server Key').toString('base64')
  return `SCRAM-SHA-256$1:${salt.toString('base64')}$${stored}:${server}`
}

export const verifiersOf = (key: Buffer, schema: string): string[] =>
  spaceRoles.map((role) => scramVerifier(passwordOf(key, schema, role)))
