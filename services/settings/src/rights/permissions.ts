import { builtInRoles, type Permission, permissions } from '@opsplane/contracts'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { memberships, roles } from '../schema.js'

/** Whether the name is one of the roles every workspace has. */
export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(builtInRoles, name)
}

/**
 * The permissions of a role. An unknown role has none.
 *
 * @param custom - permissions of the workspace's custom role of that name, if it exists
 */
export function resolvePermissions(name: string, custom: unknown): Permission[] {
  if (isBuiltIn(name)) return [...(builtInRoles[name]?.permissions ?? [])]
  // Ignores unknown names: a permission that an earlier version could grant may no longer exist.
  return Array.isArray(custom) ? permissions.filter((permission) => custom.includes(permission)) : []
}

/** Join condition between a membership and its custom role, by the unique key of roles. */
export function roleOfMembership(): SQL | undefined {
  return and(eq(roles.workspaceId, memberships.workspaceId), eq(roles.name, memberships.role))
}

/** The permissions in a joined row of `roles`; `null` if no custom role was joined. */
export const customPermissions = sql<unknown>`${roles.state}->'permissions'`

/**
 * The address of a member of a workspace. It is part of the membership, because a login created by an identity
 * provider has no address.
 */
export const memberEmail = sql<string | null>`${memberships.state}->>'email'`
