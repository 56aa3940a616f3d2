import { Account, type Instant, UserState } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, count, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { accounts, memberships } from '../schema.js'
import type { MembershipState } from './domain.js'

/** The pool or a transaction. */
type Reader = Pick<Drizzle, 'select'>

const StoredMembership = UserState.extend({
  id: z.string(),
  userId: z.string(),
  invitation: z
    .object({ id: z.string(), tokenHash: z.string(), expiresAt: z.string(), mailed: z.boolean() })
    .optional(),
})

/** Memberships of the user that do not yet record the address as proven, with their workspaces. */
export function listUnprovenMemberships(db: Reader, userId: string) {
  return db
    .select({ id: memberships.id, workspaceId: memberships.workspaceId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), sql`${memberships.state}->>'addressProven' = 'false'`))
    .orderBy(memberships.id)
}

export interface Member {
  state: MembershipState
  version: number
}

/** The user as a member of the workspace, in any status. */
export async function findMember(db: Reader, workspaceId: string, userId: string): Promise<Member | null> {
  const [row] = await db
    .select({ state: memberships.state, version: memberships.version })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
  return row ? { state: readMembership(row.state), version: row.version } : null
}

/** Those of these users who are members of the workspace or invited to it. */
export async function findMembers(db: Reader, workspaceId: string, userIds: string[]): Promise<string[]> {
  const rows = await db
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        inArray(memberships.userId, userIds),
        ne(memberships.status, 'deactivated'),
      ),
    )
  return rows.flatMap(({ userId }) => userId ?? [])
}

/** The number of active owners of the workspace other than this user. */
export async function countOtherOwners(db: Reader, workspaceId: string, userId: string): Promise<number> {
  const [row] = await db
    .select({ owners: count() })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.role, 'owner'),
        eq(memberships.status, 'active'),
        ne(memberships.userId, userId),
      ),
    )
  return row?.owners ?? 0
}

/** Matches members whose name or e-mail starts with this text, ignoring case. */
export function buildPrefixCondition(text: string | undefined): SQL | undefined {
  if (text === undefined) return undefined
  const begins = (field: string) =>
    sql`starts_with(lower(${memberships.state}->>${sql.raw(`'${field}'`)}), lower(${text}))`
  return sql`(${begins('name')} or ${begins('email')})`
}

/** An invitation that has not been used or replaced, with its person and workspace. */
export interface OpenInvitation {
  workspaceId: string
  membershipId: string
  userId: string
  email: string
  /** Name of the user in the invitation. */
  invitedName: string
  tokenHash: string
  expiresAt: Instant
  mailed: boolean
  account: Account
  /** Whether the login has no password yet. */
  unclaimed: boolean
}

/** Finds an invitation by unique keys in any workspace, because its recipient is not in a workspace yet. */
export async function findOpenInvitation(db: Reader, invitationId: string): Promise<OpenInvitation | null> {
  const [row] = await db
    .select({ member: memberships.state, workspaceId: memberships.workspaceId, account: accounts.state })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.userId))
    .where(eq(memberships.invitationId, invitationId))
  if (!row) return null
  const { id, userId, email, name, invitation } = readMembership(row.member)
  if (invitation === undefined) return null
  const { tokenHash, expiresAt, mailed } = invitation
  return {
    ...{ workspaceId: row.workspaceId, membershipId: id, userId, email, invitedName: name },
    ...{ tokenHash, expiresAt, mailed, account: Account.parse(row.account) },
    unclaimed: row.account.passwordHash === null,
  }
}

function readMembership(state: unknown): MembershipState {
  const { invitation, ...member } = StoredMembership.parse(state)
  return invitation === undefined ? member : { ...member, invitation }
}
