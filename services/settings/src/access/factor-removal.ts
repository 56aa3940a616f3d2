import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { accountByEmail } from '../account/queries.js'
import type { FactorWork } from '../factor/factors.js'
import type { FactorRemoval } from '../factor/routes.js'
import type { Members } from '../membership/members.js'
import type { Operators } from '../operator/operators.js'
import { requireSession } from '../session/own-session.js'
import { isLimitedToWorkspace } from './sole-authority.js'

export interface FactorRemovalOptions {
  factors: FactorWork
  members: Members
  operators: Operators
}

/** Removes the factors of people who have lost them and their recovery codes. */
export function createFactorRemoval(
  { database: { db } }: Pick<ServiceContext, 'database'>,
  { factors, members, operators }: FactorRemovalOptions,
): FactorRemoval {
  return {
    async forMember(userId, meta) {
      await members.requireCharge(userId, meta)
      requireSession(meta, 'An API key removes no factors. Sign in.')
      refuseOwn(userId, meta)
      const { workspaceId } = meta.tenant
      if (!(await isLimitedToWorkspace(db, operators, { accountId: userId, workspaceId }))) {
        throw new ApiError(
          'forbidden',
          'This login is used beyond this workspace as well, which relies on these factors. The operator of the installation can remove ' +
            'them: POST /platform/accounts/remove-factors.',
        )
      }
      await factors.removeAll(userId, meta)
    },

    async forAnyone(email, meta) {
      const account = await accountByEmail(db, email)
      if (account === null) throw new ApiError('not_found', 'There is no login with this e-mail.')
      refuseOwn(account.id, meta)
      await factors.removeAll(account.id, meta)
    },
  }
}

/** Without this check a stolen session could remove the protection of its own login. */
function refuseOwn(userId: string, { principal }: RequestMeta): void {
  if (userId === principal.userId)
    throw new ApiError('forbidden', 'Your own factors are removed by DELETE /auth/factors/{id}.')
}
