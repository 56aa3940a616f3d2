import type { Permission } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import { customPermissions, permissionsOf, roleOfMembership } from '../rights/permissions.js'
import { memberships, roles } from '../schema.js'

/** What the roles of these users allow in a workspace at this moment; those who are no active members are absent. */
export async function rightsOf(
  db: Pick<Drizzle, 'select'>,
  workspaceId: string,
  userIds: string[],
): Promise<Map<string, Permission[]>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .select({ userId: memberships.userId, role: memberships.role, customPermissions })
    .from(memberships)
    .leftJoin(roles, roleOfMembership())
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        inArray(memberships.userId, userIds),
        eq(memberships.status, 'active'),
      ),
    )
  return new Map(
    rows.map(({ userId, role, customPermissions: custom }) => [
      userId ?? '',
      permissionsOf(role ?? '', custom),
    ]),
  )
}
