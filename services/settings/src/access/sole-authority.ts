import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray, ne } from 'drizzle-orm'
import type { TokenIssuer } from '../account/account-tokens.js'
import type { Operators } from '../operator/operators.js'
import { findMemberRights } from '../role/member-rights.js'
import { memberships } from '../schema.js'

type Reader = Pick<Drizzle, 'select'>

/**
 * Whether a login has access to no workspace but this one. A suspended membership elsewhere counts, because it may be
 * reactivated. An invitation does not count: it grants nothing until the person accepts it with the token and the
 * password of the login. If it counted, an invitation could prevent its recipient from recovering the login.
 */
export async function isLimitedToWorkspace(
  db: Reader,
  operators: Operators,
  { accountId, workspaceId }: { accountId: string; workspaceId: string },
): Promise<boolean> {
  const elsewhere = await db
    .select({ id: memberships.id })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, accountId),
        ne(memberships.workspaceId, workspaceId),
        inArray(memberships.status, ['active', 'suspended']),
      ),
    )
    .limit(1)
  return elsewhere.length === 0 && !(await operators.includes(db, accountId))
}

/**
 * Whether the admin who created a link could still create it: the person has access to no other workspace and no more
 * permissions than the admin, now and at the time of creation, and the admin may still manage credentials.
 */
export async function canStillIssue(
  db: Reader,
  operators: Operators,
  { accountId, issuer }: { accountId: string; issuer: TokenIssuer },
): Promise<boolean> {
  const { workspaceId, userId, permissions } = issuer
  if (!(await isLimitedToWorkspace(db, operators, { accountId, workspaceId }))) return false
  const rights = await findMemberRights(db, workspaceId, [accountId, userId])
  const [concerned, present] = [rights.get(accountId), rights.get(userId)]
  if (!concerned || !present?.includes('credentials:manage')) return false
  return concerned.every((each) => present.includes(each) && permissions.includes(each))
}
