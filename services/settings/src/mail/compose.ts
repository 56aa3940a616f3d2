import type { Instant } from '@opsplane/contracts'
import type { Drizzle, Vault } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { z } from 'zod'
import { issueAccountToken, type MailPurpose } from '../account/account-tokens.js'
import { accountMailText } from '../account/mail-text.js'
import { accountByEmail } from '../account/queries.js'
import type { MailContent } from './mail-queue.js'
import type { Mail } from './mailer.js'
import { notificationMail } from './notification-text.js'
import { signInText } from './sign-in-text.js'

/** Composes a mail from its queued content; `null` if there is no longer a recipient. */
export type ComposeMail = (of: { id: string; email: string; content: MailContent }) => Promise<Mail | null>

const Sealed = z.object({ subject: z.string(), text: z.string() })
type SealedContent = z.infer<typeof Sealed>

/** Encrypts subject and text of an invitation's mail, which contain its token, for storage in the queue. */
export function sealContent(
  vault: Vault,
  workspaceId: string,
  invitationId: string,
  content: SealedContent,
): Promise<string> {
  return vault.seal(workspaceId, JSON.stringify(content), buildSealContext(invitationId))
}

export interface ComposerOptions {
  vault: Vault
  db: Drizzle
  clock: Clock
  publicOrigin: string | undefined
}

export function createComposer({ vault, db, clock, publicOrigin }: ComposerOptions): ComposeMail {
  return async ({ id, email, content }) => {
    if (content.kind === 'notification') {
      const { notification, workspaceSlug } = content
      return notificationMail(notification, { id, email, workspaceSlug })
    }
    if (content.kind === 'account')
      return accountMail(db, { id, email, purpose: content.purpose, publicOrigin }, clock.now())
    if (content.kind === 'sign_in') return { id, to: email, ...signInText(content.signIn, publicOrigin) }
    const { workspaceId, sealed, invitationId } = content
    const decryptedContent = await vault.open(workspaceId, sealed, buildSealContext(invitationId))
    return { id, to: email, ...Sealed.parse(JSON.parse(decryptedContent)) }
  }
}

interface AccountMail extends Pick<ComposerOptions, 'publicOrigin'> {
  id: string
  email: string
  purpose: MailPurpose
}

/** Issues a new token for each attempt, and therefore another Message-ID. */
async function accountMail(
  db: Drizzle,
  { id, email, purpose, publicOrigin }: AccountMail,
  now: Instant,
): Promise<Mail | null> {
  const found = await accountByEmail(db, email)
  // A person who was only invited must accept the invitation instead.
  if (found === null || found.passwordHash === null) return null
  const issued = await issueAccountToken(db, { accountId: found.id, purpose, now })
  const { plaintext: token, expiresAt } = issued
  return {
    id: `${id}.${issued.id}`,
    to: email,
    ...accountMailText(purpose, { token, expiresAt, publicOrigin }),
  }
}

const buildSealContext = (invitationId: string) => `invitation mail|${invitationId}`
