import { ApiError, type ResetLink } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { toStatementRunner } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { issueAccountToken, type TokenIssuer } from '../account/account-tokens.js'
import type { AccountState } from '../account/domain.js'
import { pageLink } from '../account/page-link.js'
import { accountByEmail, lockAccount, requireAccount } from '../account/queries.js'
import type { Members } from '../membership/members.js'
import type { Operators } from '../operator/operators.js'
import { requireSession } from '../session/own-session.js'
import { recordLoginEvent } from '../session/session-log.js'
import { isLimitedToWorkspace } from './sole-authority.js'

export interface ResetLinkOptions {
  members: Members
  operators: Operators
  withMail: boolean
  publicOrigin: string | undefined
}

export type ResetLinks = ReturnType<typeof createResetLinks>

/** Links with which a person sets a new password if no mail can be sent. */
export function createResetLinks(
  { database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>,
  { members, operators, withMail, publicOrigin }: ResetLinkOptions,
) {
  const issue = async (
    { id: accountId, name, passwordHash }: AccountState,
    issuer: TokenIssuer | null,
    meta: RequestMeta,
  ): Promise<ResetLink> => {
    if (passwordHash === null) throw unclaimed()
    const issued = await db.transaction(async (tx) => {
      await lockAccount(tx, accountId)
      if (issuer && !(await isLimitedToWorkspace(tx, operators, { accountId, ...issuer })))
        throw reachesFurther()
      const { plaintext, expiresAt } = await issueAccountToken(tx, {
        ...{ accountId, purpose: 'reset_link', issuer, now: meta.now },
      })
      const created = {
        ...{ type: 'account.reset_link_created' as const, userId: accountId },
        resource: { type: 'account', id: accountId, displayName: name },
        data: { before: null, after: { id: accountId, expiresAt } },
      }
      await recordLoginEvent({ db: tx, run: toStatementRunner(tx) }, created, meta)
      return { token: plaintext, expiresAt }
    })
    relay.wake()
    return { ...issued, link: pageLink(publicOrigin, 'password_reset', issued.token) }
  }

  return {
    /**
     * Creates a link as an admin of the workspace. Throws `not_found`, `conflict` if mail is available, and `forbidden`
     * for an API key, for the caller's own login, and for users who have more permissions or are members of another
     * workspace as well.
     */
    async forMember(accountId: string, meta: RequestMeta): Promise<ResetLink> {
      const { tenant } = meta
      const principal = requireSession(meta, 'An API key creates no way into a login. Log in.')
      await members.requireCharge(accountId, meta).catch((error: unknown) => {
        throw error instanceof ApiError && error.code === 'forbidden' ? reachesFurther(error) : error
      })
      if (principal.userId === accountId) throw ownLogin()
      if (withMail) throw mailed()
      const { userId, permissions } = principal
      const issuer = { workspaceId: tenant.workspaceId, userId, permissions }
      return issue(await requireAccount(db, accountId), issuer, meta)
    },

    /** Creates a link for any login, as the operator of the installation. Throws `not_found` and `conflict`. */
    async forAnyone(email: string, meta: RequestMeta): Promise<ResetLink> {
      const account = await accountByEmail(db, email)
      if (account === null) throw new ApiError('not_found', 'There is no login with this e-mail.')
      return issue(account, null, meta)
    },
  }
}

const theWay = 'The operator of the installation can create a link: POST /platform/accounts/reset-link.'

/** Does not name the other workspaces: an admin of this workspace must not learn about them. */
function reachesFurther(cause?: ApiError): ApiError {
  const message = `This login has permissions you lack, or is a member of other workspaces. ${theWay}`
  return new ApiError('forbidden', message, cause && { cause, details: cause.details })
}

function ownLogin(): ApiError {
  return new ApiError('forbidden', 'For your own login use POST /auth/password/change.')
}

function mailed(): ApiError {
  const message =
    'There is a mail server: the person asks for a new password by POST /auth/password/reset, and gets a mail.'
  return new ApiError('conflict', message, {
    details: [{ in: 'path', path: '/id', code: 'mail_server', message }],
  })
}

function unclaimed(): ApiError {
  const message =
    'The login has no password to be replaced: the person accepts an invitation, which can be sent again, or signs in by single sign-on.'
  return new ApiError('conflict', message)
}
