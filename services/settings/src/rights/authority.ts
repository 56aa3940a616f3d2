import { missingPermissionError } from '@opsplane/contracts'

/**
 * A caller cannot grant, revoke or change permissions they do not have; otherwise they could gain permissions through
 * another user. Throws `forbidden` with the missing permissions.
 */
export function requireAuthority(heldPermissions: readonly string[], concerned: readonly string[]): void {
  const missing = concerned.filter((permission) => !heldPermissions.includes(permission))
  if (missing.length === 0) return
  const message = `This needs permissions you do not have: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
