import {
  ApiError,
  type Instant,
  type InvitedUser,
  type NewInvitation,
  newId,
  platformTenant,
} from '@opsplane/contracts'
import type { Serialized, Transaction, Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import { oneLine } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { account } from '../account/domain.js'
import { pageLink } from '../account/page-link.js'
import { accountByEmail } from '../account/queries.js'
import { sealContent } from '../mail/compose.js'
import { dropInvitationMail, queueInvitationMail } from '../mail/mail-queue.js'
import { workspaceName } from '../tenant/queries.js'
import { issueToken } from '../token/bearer-token.js'
import { acceptPath, invitationText } from './invitation-text.js'
import { inWorkspaceScope, type Members, requireGrant, requireRank } from './members.js'
import { findMember } from './queries.js'

/**
 * Invites a person, or replaces their invitation. The plaintext of the token is sent by mail if there is a mail
 * server, otherwise it is in the response. It is never stored unencrypted.
 */
export type Invite = (newInvitation: NewInvitation, meta: RequestMeta) => Promise<InvitedUser>

export interface InviteOptions {
  members: Members
  serialized: Serialized
  vault: Vault
  withMail: boolean
  publicOrigin: string | undefined
}

const hourMs = 3_600_000

/** An invitation before it is committed. */
interface Issued {
  id: string
  plaintext: string
  tokenHash: string
  expiresAt: Instant
  /** `null`: no mail is sent. */
  sealedContent: string | null
}

export function createInvite(
  { store, database: { db }, dueWork }: Pick<ServiceContext, 'store' | 'database' | 'dueWork'>,
  { members, serialized, vault, withMail, publicOrigin }: InviteOptions,
): Invite {
  const accounts = store.aggregate(account)

  /** Runs before the workspace is locked, because sealing may need a connection. */
  const issue = async ({ role, expiresInHours }: NewInvitation, meta: RequestMeta): Promise<Issued> => {
    const { workspaceId } = meta.tenant
    const id = newId('invitation')
    const { plaintext, secretHash: tokenHash } = issueToken('inv', id)
    const expiresAt = new Date(Date.parse(meta.now) + expiresInHours * hourMs).toISOString()
    const issued = { id, plaintext, tokenHash, expiresAt }
    if (!withMail) return { ...issued, sealedContent: null }
    const names = {
      workspaceName: oneLine(await workspaceName(db, workspaceId)),
      inviterName: oneLine(meta.actor.name),
    }
    const content = invitationText({ ...names, role, token: plaintext, expiresAt, publicOrigin })
    return { ...issued, sealedContent: await sealContent(vault, workspaceId, id, content) }
  }

  /** The login of the person. If there is none, creates one without a password, which the acceptance claims. */
  const loginOf = async (
    unit: Unit,
    tx: Transaction,
    email: string,
    now: Instant,
  ): Promise<{ id: string; addressProven: boolean }> => {
    const known = await accountByEmail(tx, email)
    if (known !== null) return { id: known.id, addressProven: known.addressProvenAt !== null }
    const id = newId('user')
    const login = { kind: 'create' as const, id, email, name: email, passwordHash: null, now }
    await unit.create(accounts, id, login, { tenant: platformTenant })
    return { id, addressProven: false }
  }

  const invite = (newInvitation: NewInvitation, issued: Issued, meta: RequestMeta): Promise<InvitedUser> =>
    serialized(inWorkspaceScope(meta), async (unit, tx) => {
      const { email, role, name } = newInvitation
      const { now } = meta
      await requireGrant(tx, meta, role)
      const { id: userId, addressProven } = await loginOf(unit, tx, email, now)
      const former = await findMember(tx, meta.tenant.workspaceId, userId)
      const { id, tokenHash, expiresAt, sealedContent } = issued
      const person = { userId, email, name: name ?? email, role, addressProven, now }
      const invitation = { id, tokenHash, expiresAt, mailed: withMail }
      if (former !== null && former.state.status !== 'deactivated') await requireRank(tx, meta, former.state)
      await dropInvitationMail(tx, former?.state.invitation?.id)
      const membershipId = former?.state.id ?? newId('membership')
      const command = { kind: 'invite' as const, id: membershipId, ...person, invitation }
      const user = await (former === null
        ? unit.create(members.aggregate, membershipId, command)
        : unit.handle(members.aggregate, membershipId, command))
      if (sealedContent !== null) {
        const { workspaceId } = meta.tenant
        const mail = { workspaceId, invitationId: id, sealedContent, userId, email, expiresAt }
        await queueInvitationMail(tx, mail, now)
      }
      const mailed = sealedContent !== null
      const shown = {
        token: mailed ? null : issued.plaintext,
        link: mailed ? null : pageLink(publicOrigin, 'invitation', issued.plaintext),
        ...{ mailed, acceptPath, expiresAt },
      }
      return { ...user, invitation: shown }
    })

  return async (newInvitation, meta) => {
    const issued = await issue(newInvitation, meta)
    const invited = await invite(newInvitation, issued, meta).catch((error: unknown) => {
      // Another workspace created the login with this e-mail concurrently; it exists now.
      if (!isLoginInUse(error)) throw error
      return invite(newInvitation, issued, meta)
    })
    if (withMail) dueWork.wake('mails')
    return invited
  }
}

function isLoginInUse(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.details.some(({ params }) => params?.constraint === 'accounts_email_key')
  )
}
