import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { FactorWork } from '../factor/factors.js'
import type { RemoveFactorsOf } from '../factor/routes.js'
import type { Members } from '../membership/members.js'
import type { Operators } from '../operator/operators.js'
import { requireSession } from '../session/own-session.js'
import { reachesNoFurther } from './sole-authority.js'

export interface FactorRemovalOptions {
  factors: FactorWork
  members: Members
  operators: Operators
}

/**
 * A login belongs to no workspace: an admin removes its factors only if it reaches no further than this workspace, and if its person may
 * do no more than the admin. Throws `not_found` and `forbidden`.
 */
export function createRemoveFactorsOf(
  { database: { db } }: Pick<ServiceContext, 'database'>,
  { factors, members, operators }: FactorRemovalOptions,
): RemoveFactorsOf {
  return async (userId, meta: RequestMeta) => {
    await members.requireCharge(userId, meta)
    requireSession(meta, 'An API key removes no factors. Sign in.')
    if (userId === meta.principal.userId)
      throw new ApiError('forbidden', 'Your own factors are removed by DELETE /auth/factors/{id}.')
    const { workspaceId } = meta.tenant
    if (!(await reachesNoFurther(db, operators, { accountId: userId, workspaceId }))) {
      throw new ApiError(
        'forbidden',
        'This login is used beyond this workspace as well, which relies on these factors: ask the operator of the installation.',
      )
    }
    await factors.removeAll(userId, meta)
  }
}
