import { builtInRoles, type Permission, permissions } from '@opsplane/contracts'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { memberships, roles } from '../schema.js'

/** Whether the name is one of the roles every workspace has. */
export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(builtInRoles, name)
}

/**
 * What a role allows: the one place that knows. `custom` are the permissions of the workspace's own role of that
 * name, where there is one. An unknown role allows nothing.
 */
export function resolvePermissions(name: string, custom: unknown): Permission[] {
  if (isBuiltIn(name)) return [...(builtInRoles[name]?.permissions ?? [])]
  // Parsed by looking each up: what a former version could grant may be a permission no more.
  return Array.isArray(custom) ? permissions.filter((permission) => custom.includes(permission)) : []
}

/** Joins the custom role of a membership to it, by the unique key of roles. */
export function roleOfMembership(): SQL | undefined {
  return and(eq(roles.workspaceId, memberships.workspaceId), eq(roles.name, memberships.role))
}

/** The permissions in a joined row of `roles`; null where no custom role was joined. */
export const customPermissions = sql<unknown>`${roles.state}->'permissions'`

/** The address of a member of a workspace: a login created by an identity provider has none of its own. */
export const memberEmail = sql<string | null>`${memberships.state}->>'email'`
