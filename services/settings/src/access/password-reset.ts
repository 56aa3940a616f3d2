import {
  type Instant,
  type PasswordReset,
  platformTenant,
  type ResetSignIn,
  type Session,
} from '@opsplane/contracts'
import { type Serialized, serializer, type Transaction, type Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { consumeToken, deleteTokens, type ValidToken } from '../account/account-tokens.js'
import { account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { lockAccount, requireAccount } from '../account/queries.js'
import { type Members, proveMemberships } from '../membership/members.js'
import type { Operators } from '../operator/operators.js'
import { type ProvenPerson, type Sessions, toSessionOrigin } from '../session/sessions.js'
import type { CompleteSignIn } from '../session/sign-in.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { token } from '../token/domain.js'
import { listKeysOfPerson } from '../token/queries.js'
import { canStillIssue } from './sole-authority.js'
import { type CheckToken, invalidAccountToken } from './token-check.js'

/**
 * Sets a new password with a token from a mail or a link, and ends all sessions. Returns the person with the methods
 * they have proved. Throws `invalid_token`, `rate_limited`, `service_unavailable`.
 */
export type ResetPassword = (input: PasswordReset, meta: RequestMeta) => Promise<ProvenPerson>

export interface PasswordResetOptions {
  passwords: Passwords
  sessions: Sessions
  members: Members
  operators: Operators
  checkToken: CheckToken
}

export function createPasswordReset(
  ctx: Pick<ServiceContext, 'store' | 'database'>,
  { passwords, sessions, members, operators, checkToken }: PasswordResetOptions,
): ResetPassword {
  const { store, database } = ctx
  const accounts = store.aggregate(account)
  const keys = store.aggregate(token)
  const commit: Serialized = serializer(ctx, async () => undefined)

  /** Keys created while the address was unproven may belong to another person who claimed the login first. */
  const revokeKeys = async (unit: Unit, tx: Transaction, userId: string, now: Instant) => {
    const revoke = { kind: 'revoke', reason: 'login_reclaimed', now } as const
    for (const { id, workspaceId } of await listKeysOfPerson(tx, userId))
      await unit.handle(keys, id, revoke, { tenant: workspaceScope(workspaceId) })
  }

  /** Whether the creator of a link still has the rights to create it. Evaluated under the lock of the login. */
  const isIssuerAuthorized = async (tx: Transaction, { accountId, issuer }: ValidToken) =>
    issuer === null || (await canStillIssue(tx, operators, { accountId, issuer }))

  return async ({ token: presented, newPassword }, meta) => {
    const good = await checkToken(presented, ['password_reset', 'reset_link'], meta)
    const { accountId: id, purpose } = good
    const { name } = await requireAccount(database.db, id)
    const passwordHash = await passwords.hash(newPassword)
    const actor = { id, name, type: 'user' as const }
    const { now } = meta
    const by = purpose === 'reset_link' ? 'link' : 'mail'
    const reset = await commit({ ...meta, actor, tenant: platformTenant }, async (unit, tx) => {
      await lockAccount(tx, id)
      if (!(await consumeToken(tx, presented, purpose))) return null
      if (!(await isIssuerAuthorized(tx, good))) return null
      const { addressProvenAt } = await requireAccount(tx, id)
      const { version: _, ...after } = await unit.handle(accounts, id, {
        ...{ kind: 'reset_password' as const, by, passwordHash, now },
      })
      await deleteTokens(tx, id)
      await sessions.endAll(tx, { accountId: id, reason: 'password_reset' }, { ...meta, actor })
      if (by === 'mail' && addressProvenAt === null) {
        await revokeKeys(unit, tx, id, now)
        await proveMemberships(unit, tx, members.aggregate, id, now)
      }
      return after
    })
    if (reset === null) throw invalidAccountToken()
    return { account: { ...reset, passwordHash }, methods: ['reset'] }
  }
}

/**
 * Signs a browser in by a password reset. If the login has a second factor, throws `factor_required`; the new
 * password is set already.
 */
export const createResetSignIn =
  ({ resetPassword, completeSignIn }: { resetPassword: ResetPassword; completeSignIn: CompleteSignIn }) =>
  async ({ resetToken: token, newPassword }: ResetSignIn, meta: RequestMeta): Promise<Session> => {
    const proven = await resetPassword({ token, newPassword }, meta)
    return completeSignIn(proven, toSessionOrigin(meta), { now: meta.now, kind: 'web' })
  }
