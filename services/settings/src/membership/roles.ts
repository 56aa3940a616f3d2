import { builtInRoles, type Permission } from '@opsplane/contracts'

/** What a role allows; a role nobody knows allows nothing. */
export function rolePermissions(role: string): readonly Permission[] {
  return builtInRoles[role]?.permissions ?? []
}
