import { RoleState } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, count, eq, ne } from 'drizzle-orm'
import { isBuiltIn } from '../rights/permissions.js'
import { memberships, roles } from '../schema.js'

/** The pool or a transaction. */
export type Reader = Pick<Drizzle, 'select'>

export interface StoredRole {
  state: RoleState
  version: number
}

/** The custom roles of the workspace, ordered by name. */
export async function customRoles(db: Reader, workspaceId: string): Promise<StoredRole[]> {
  const rows = await db
    .select({ state: roles.state, version: roles.version })
    .from(roles)
    .where(eq(roles.workspaceId, workspaceId))
    .orderBy(roles.name)
  return rows.map(({ state, version }) => ({ state: RoleState.parse(state), version }))
}

export async function customRole(db: Reader, workspaceId: string, name: string): Promise<StoredRole | null> {
  const [row] = await db
    .select({ state: roles.state, version: roles.version })
    .from(roles)
    .where(and(eq(roles.workspaceId, workspaceId), eq(roles.name, name)))
  return row ? { state: RoleState.parse(row.state), version: row.version } : null
}

/** Those of these roles that exist in the workspace, built-in or custom. */
export async function findRoles(
  db: Reader,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return []
  const own = new Set((await customRoles(db, workspaceId)).map(({ state }) => state.name))
  return names.filter((name) => isBuiltIn(name) || own.has(name))
}

/** The number of users of the workspace by role; roles without users are absent. */
export async function countMembersByRole(db: Reader, workspaceId: string): Promise<Map<string, number>> {
  const rows = await db
    .select({ role: memberships.role, members: count() })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), ne(memberships.status, 'deactivated')))
    .groupBy(memberships.role)
  return new Map(rows.map(({ role, members }) => [role ?? '', members]))
}
