import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { and, eq, inArray, ne } from 'drizzle-orm'
import type { Members } from '../membership/members.js'
import { memberships } from '../schema.js'
import { requireSession } from '../session/own-session.js'
import type { FactorWork } from './factors.js'

/** Removes the factors of a member who has lost them. Throws `not_found` and `forbidden`. */
export type RemoveFactorsOf = (userId: string, meta: RequestMeta) => Promise<void>

/**
 * A login belongs to no workspace: an admin removes its factors only if no other workspace relies on them, and if its person may do no
 * more than the admin.
 */
export function createRemoveFactorsOf(
  { database: { db } }: Pick<ServiceContext, 'database'>,
  { factors, members }: { factors: FactorWork; members: Members },
): RemoveFactorsOf {
  return async (userId, meta) => {
    await members.requireCharge(userId, meta)
    requireSession(meta, 'An API key removes no factors. Sign in.')
    if (userId === meta.principal.userId)
      throw new ApiError('forbidden', 'Your own factors are removed by DELETE /auth/factors/{id}.')
    const elsewhere = await db.$count(
      memberships,
      and(
        eq(memberships.userId, userId),
        ne(memberships.workspaceId, meta.tenant.workspaceId),
        inArray(memberships.status, ['active', 'suspended']),
      ),
    )
    if (elsewhere > 0) {
      throw new ApiError(
        'forbidden',
        'The user is a member of other workspaces as well, which rely on these factors: ask the operator of the installation.',
      )
    }
    await factors.removeAll(userId, meta)
  }
}
