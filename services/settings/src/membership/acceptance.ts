import {
  type Account,
  type Instant,
  type InvitationAcceptance,
  invalidField,
  platformTenant,
  type Session,
} from '@opsplane/contracts'
import type { Serialized } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import { constantTimeEqual } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { account } from '../account/domain.js'
import type { Passwords } from '../account/passwords.js'
import { lockAccount, requireAccount } from '../account/queries.js'
import { dropInvitationMail } from '../mail/mail-queue.js'
import type { Identify } from '../session/login.js'
import { type ProvenPerson, type SessionKind, toSessionOrigin } from '../session/sessions.js'
import { type CompleteSignIn, wrongCredentials } from '../session/sign-in.js'
import type { Throttle } from '../session/throttle.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { readToken } from '../token/bearer-token.js'
import { invalidInvitation } from './domain.js'
import { type Members, proveMemberships } from './members.js'
import { findOpenInvitation, type OpenInvitation } from './queries.js'

/**
 * Accepts an invitation and returns a session like a login. The acceptance sets the password of a new login; an
 * existing login is proved with its password. Throws `invalid_token`, `invalid_credentials`, `rate_limited`,
 * `validation_failed`.
 */
export type AcceptInvitation = (
  acceptance: InvitationAcceptance,
  meta: RequestMeta,
  kind: SessionKind,
) => Promise<Session>

export interface AcceptOptions {
  members: Members
  serialized: Serialized
  passwords: Passwords
  throttle: Throttle
  identify: Identify
  completeSignIn: CompleteSignIn
}

export function createAccept(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  { members, serialized, passwords, throttle, identify, completeSignIn }: AcceptOptions,
): AcceptInvitation {
  const accounts = store.aggregate(account)
  /** `null` if the token was never issued, was used or replaced, or has expired. Does the same work in each case. */
  const valid = async (token: string, now: Instant): Promise<OpenInvitation | null> => {
    const presentedToken = readToken(token)
    const found = await findOpenInvitation(db, presentedToken?.kind === 'inv' ? presentedToken.id : '')
    const matches = constantTimeEqual(found?.tokenHash ?? '', presentedToken?.secretHash ?? '')
    return found !== null && matches && found.expiresAt > now ? found : null
  }

  /** Makes the person a member, and lets them claim a new login. */
  const admit = (
    invitation: OpenInvitation,
    name: string,
    { passwordHash, proved }: { passwordHash: string | null; proved?: string | null },
    meta: RequestMeta,
  ): Promise<Account> => {
    const { workspaceId, membershipId, tokenHash, userId } = invitation
    const { now, requestId } = meta
    const actor = { id: userId, name, type: 'user' as const }
    return serialized({ tenant: workspaceScope(workspaceId), actor, now, requestId }, async (unit, tx) => {
      await lockAccount(tx, userId)
      // Rejects if the password was replaced meanwhile, for example by a reset link of another workspace's admin.
      if (proved !== undefined && (await requireAccount(tx, userId)).passwordHash !== proved)
        throw wrongCredentials()
      const found = await unit.find(members.aggregate, membershipId)
      const addressProven = invitation.mailed || invitation.account.addressProvenAt !== null
      const accept = { kind: 'accept' as const, tokenHash, name, addressProven, now }
      await unit.handle(members.aggregate, membershipId, accept)
      await dropInvitationMail(tx, found?.state.invitation?.id)
      const command =
        passwordHash === null
          ? { kind: 'prove_address' as const, now }
          : { kind: 'claim' as const, name, passwordHash, addressProven, now }
      if (passwordHash === null && !addressProven) return invitation.account
      const { version: _, ...user } = await unit.handle(accounts, userId, command, { tenant: platformTenant })
      if (addressProven) await proveMemberships(unit, tx, members.aggregate, userId, now)
      return user
    })
  }

  const claim = async (
    invitation: OpenInvitation,
    acceptance: InvitationAcceptance,
    meta: RequestMeta,
  ): Promise<ProvenPerson> => {
    const { invitedName, email } = invitation
    const name = acceptance.name ?? (invitedName === email ? undefined : invitedName)
    if (name === undefined) throw invalidField('/name', 'required', 'A new login needs a name.')
    const passwordHash = await passwords.hash(requirePassword(acceptance))
    const user = await admit(invitation, name, { passwordHash }, meta)
    return { account: { ...user, passwordHash }, methods: ['invitation'] }
  }

  const join = async (
    invitation: OpenInvitation,
    acceptance: InvitationAcceptance,
    meta: RequestMeta,
  ): Promise<ProvenPerson> => {
    const credentials = { email: invitation.email, password: requirePassword(acceptance) }
    const { passwordHash } = await identify(credentials, toSessionOrigin(meta), meta.now)
    const user = await admit(
      invitation,
      invitation.account.name,
      { passwordHash: null, proved: passwordHash },
      meta,
    )
    return { account: { ...user, passwordHash }, methods: ['invitation', 'password'] }
  }

  return async (acceptance, meta, kind) => {
    const attempt = throttle.attempt(`invitation ${acceptance.token}`, toSessionOrigin(meta).address)
    await throttle.begin(attempt, meta.now)
    const invitation = await valid(acceptance.token, meta.now)
    if (invitation === null) {
      await passwords.matches(acceptance.password ?? '', null)
      throw invalidInvitation()
    }
    await throttle.succeeded(attempt, meta.now)
    const person = await (invitation.unclaimed ? claim : join)(invitation, acceptance, meta)
    return completeSignIn(person, toSessionOrigin(meta), { now: meta.now, kind })
  }
}

function requirePassword({ password }: InvitationAcceptance): string {
  if (password !== undefined) return password
  throw invalidField(
    '/password',
    'required',
    'Send a password: a new one, or that of the login with this e-mail.',
  )
}
