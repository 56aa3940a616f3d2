import {
  type AddressProof,
  ApiError,
  type FactorChallenge,
  type Instant,
  type PasswordChange,
  platformTenant,
  type StepUpProof,
} from '@opsplane/contracts'
import { type Serialized, serializer } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { consumeToken, deleteTokens, type MailPurpose } from '../account/account-tokens.js'
import { account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { lockAccount, requireAccount } from '../account/queries.js'
import type { AnswerChallenge } from '../factor/answer-challenge.js'
import { type ChallengeLogin, factorRequiredError } from '../factor/require-factor.js'
import { queueAccountMail } from '../mail/mail-queue.js'
import { type Members, proveMemberships } from '../membership/members.js'
import { requireSession } from '../session/own-session.js'
import { type Sessions, toSessionOrigin } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'
import { type CheckToken, invalidAccountToken } from './token-check.js'

export interface AccessOptions {
  passwords: Passwords
  throttle: Throttle
  sessions: Sessions
  members: Members
  checkToken: CheckToken
  withMail: boolean
  challengeLogin: ChallengeLogin
  answerChallenge: AnswerChallenge
}

export type AccountAccess = ReturnType<typeof createAccountAccess>

/** Operations with which a person changes or recovers the access to their login. */
export function createAccountAccess(ctx: ServiceContext, options: AccessOptions) {
  const { store, database, dueWork } = ctx
  const { db } = database
  const { passwords, throttle, sessions, members, checkToken, challengeLogin, answerChallenge } = options
  const accounts = store.aggregate(account)
  const commit: Serialized = serializer(ctx, async () => undefined)

  /** The request's metadata with the platform's scope; the person remains the actor. */
  const platform = (meta: RequestMeta) => ({ ...meta, tenant: platformTenant })

  const mail = async (email: string, purpose: MailPurpose, now: Instant) => {
    await queueAccountMail(db, { email, purpose }, now)
    dueWork.wake('mails')
  }

  const requirePassword = async (userId: string, password: string, meta: RequestMeta): Promise<void> => {
    const { email } = await requireAccount(db, userId)
    const attempt = throttle.attempt(email, toSessionOrigin(meta).address)
    throttle.refuseKnown(attempt, meta.now)
    const matches = await passwords.matches(password, async () => {
      await throttle.begin(attempt, meta.now)
      return (await requireAccount(db, userId)).passwordHash
    })
    if (!matches) throw new ApiError('invalid_credentials', 'The present password is wrong.')
    await throttle.succeeded(attempt, meta.now)
  }

  /** Throws `forbidden` unless the request comes from a browser session. */
  const steppingUp = (meta: RequestMeta) => {
    const { userId: accountId, tokenId: sessionId, provedAt } = requireSession(meta, refusal)
    if (provedAt !== undefined) return { accountId, sessionId }
    throw new ApiError('forbidden', 'Only browser sessions step up. This session needs no step-up.')
  }

  return {
    /**
     * Throws `forbidden` outside a browser session, `factor_required` if a password is sent and the login has a factor,
     * `invalid_token`, `invalid_credentials`, `rate_limited`, `service_unavailable`.
     */
    async stepUp(proof: StepUpProof, meta: RequestMeta): Promise<{ token: string; expiresAt: Instant }> {
      const { accountId, sessionId } = steppingUp(meta)
      if ('password' in proof) {
        const challenge = await challengeLogin({ purpose: 'step_up', accountId, sessionId }, meta.now)
        if (challenge !== null) throw factorRequiredError(challenge)
        await requirePassword(accountId, proof.password, meta)
        return sessions.stepUp(sessionId, 'password', meta)
      }
      const from = { origin: toSessionOrigin(meta), now: meta.now }
      const { method } = await answerChallenge(proof, { purpose: 'step_up', sessionId }, from)
      return sessions.stepUp(sessionId, method, meta)
    },

    /** Throws `forbidden` outside a browser session, `conflict` if the login has no factor. */
    async beginStepUp(meta: RequestMeta): Promise<FactorChallenge> {
      const challenge = await challengeLogin({ purpose: 'step_up', ...steppingUp(meta) }, meta.now)
      if (challenge !== null) return challenge
      throw new ApiError('conflict', 'The login has no second factor. Step up by its password.')
    },

    /** Throws `forbidden` for an API key, `invalid_credentials`, `rate_limited`, `service_unavailable`. */
    async changePassword({ currentPassword, newPassword }: PasswordChange, meta: RequestMeta): Promise<void> {
      const { userId, tokenId } = requireSession(meta, refusal)
      await requirePassword(userId, currentPassword, meta)
      const passwordHash = await passwords.hash(newPassword)
      await commit(platform(meta), async (unit, tx) => {
        await lockAccount(tx, userId)
        await unit.handle(accounts, userId, { kind: 'change_password', passwordHash, now: meta.now })
        await deleteTokens(tx, userId)
        const sessionsToEnd = { accountId: userId, except: tokenId, reason: 'password_changed' as const }
        await sessions.endAll(tx, sessionsToEnd, meta)
      })
    },

    /** Behaves the same for every address, known or not. Throws `conflict` without a mail server, `rate_limited`. */
    async requestReset(email: string, meta: RequestMeta): Promise<void> {
      requireMail(options)
      // Successful attempts are not forgiven, so that the throttle bounds the mails to an address and from a network.
      await throttle.begin(throttle.attempt(`reset ${email}`, toSessionOrigin(meta).address), meta.now)
      await mail(email, 'password_reset', meta.now)
    },

    /** Throws `forbidden` for an API key, `conflict` without a mail server, `rate_limited`. */
    async requestProof(meta: RequestMeta): Promise<void> {
      requireMail(options)
      const { userId } = requireSession(meta, refusal)
      const { email } = await requireAccount(db, userId)
      await throttle.begin(throttle.attempt(`prove ${email}`, toSessionOrigin(meta).address), meta.now)
      await mail(email, 'address_proof', meta.now)
    },

    /**
     * Proves the address of the caller's own login only: a mail that another person requested proves nothing. Throws
     * `invalid_token`.
     */
    async prove({ token: mailed }: AddressProof, meta: RequestMeta): Promise<void> {
      const purpose = 'address_proof'
      const { userId } = requireSession(meta, refusal)
      if ((await checkToken(mailed, [purpose], meta)).accountId !== userId) throw invalidAccountToken()
      const { now } = meta
      await commit(platform(meta), async (unit, tx) => {
        if (!(await consumeToken(tx, mailed, purpose))) throw invalidAccountToken()
        await unit.handle(accounts, userId, { kind: 'prove_address', now })
        await proveMemberships(unit, tx, members.aggregate, userId, now)
      })
    },
  }
}

const refusal = 'An API key changes nothing of the login. Log in.'

function requireMail({ withMail }: Pick<AccessOptions, 'withMail'>): void {
  if (withMail) return
  const message = 'There is no mail server: ask the operator of the installation.'
  throw new ApiError('conflict', message, {
    details: [{ in: 'body', path: '', code: 'no_mail_server', message }],
  })
}
