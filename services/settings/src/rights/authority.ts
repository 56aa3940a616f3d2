import { missingPermissionError } from '@opsplane/contracts'

/**
 * Nobody gives, takes or changes more than they may do themselves; otherwise a way to permissions would lead
 * through somebody else. Throws `forbidden` naming what is missing.
 */
export function requireAuthority(held: readonly string[], concerned: readonly string[]): void {
  const missing = concerned.filter((permission) => !held.includes(permission))
  if (missing.length === 0) return
  const message = `This concerns permissions you do not hold: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
