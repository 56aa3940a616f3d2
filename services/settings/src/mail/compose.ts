import type { Vault } from '@opsplane/postgres'
import { z } from 'zod'
import { notificationMail } from '../notification/mail-text.js'
import type { MailContent } from './mail-queue.js'
import type { Mail } from './mailer.js'

/** Makes the mail of what it was queued with. */
export type ComposeMail = (of: { id: string; email: string; content: MailContent }) => Promise<Mail>

const Sealed = z.object({ subject: z.string(), text: z.string() })
type SealedContent = z.infer<typeof Sealed>

/** Subject and text of an invitation's mail, which hold its token, as they may wait in a table. */
export function sealContent(
  vault: Vault,
  workspaceId: string,
  invitationId: string,
  content: SealedContent,
): Promise<string> {
  return vault.seal(workspaceId, JSON.stringify(content), placeOf(invitationId))
}

export function createComposer(vault: Vault): ComposeMail {
  return async ({ id, email, content }) => {
    if (content.kind === 'notification') {
      const { notification, workspaceSlug } = content
      return notificationMail(notification, { id, email, workspaceSlug })
    }
    const { workspaceId, sealed, invitationId } = content
    const opened = await vault.open(workspaceId, sealed, placeOf(invitationId))
    return { id, to: email, ...Sealed.parse(JSON.parse(opened)) }
  }
}

const placeOf = (invitationId: string) => `invitation mail|${invitationId}`
