import type { Permission } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import {
  customPermissions,
  memberEmail,
  resolvePermissions,
  roleOfMembership,
} from '../rights/permissions.js'
import { accounts, memberships, roles } from '../schema.js'

/** An active member of a workspace as of now. */
export interface ActiveMember {
  role: string
  permissions: Permission[]
  name: string
  email: string
}

/** The current active members of a workspace among these users, by id. */
export async function findActiveMembers(
  db: Pick<Drizzle, 'select'>,
  workspaceId: string,
  userIds: string[],
): Promise<Map<string, ActiveMember>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .select({
      userId: memberships.userId,
      role: memberships.role,
      name: accounts.name,
      email: memberEmail,
      customPermissions,
    })
    .from(memberships)
    .leftJoin(accounts, eq(accounts.id, memberships.userId))
    .leftJoin(roles, roleOfMembership())
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        inArray(memberships.userId, userIds),
        eq(memberships.status, 'active'),
      ),
    )
  return new Map(
    rows.map(({ userId, role, name, email, customPermissions: custom }) => [
      userId ?? '',
      {
        ...{ role: role ?? '', permissions: resolvePermissions(role ?? '', custom) },
        ...{ name: name ?? '', email: email ?? '' },
      },
    ]),
  )
}

/** The current permissions of these users in a workspace, by id, for active members only. */
export async function findMemberRights(
  db: Pick<Drizzle, 'select'>,
  workspaceId: string,
  userIds: string[],
): Promise<Map<string, Permission[]>> {
  const members = await findActiveMembers(db, workspaceId, userIds)
  return new Map([...members].map(([userId, { permissions }]) => [userId, permissions]))
}
