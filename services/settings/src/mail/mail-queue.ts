import { type Instant, NotificationContent } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { dueNow, type LeasedRow, type StatementRunner } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import { mails } from '../schema.js'

/** The mail that brings an invitation, as it waits for being sent. */
export interface InvitationMail {
  workspaceId: string
  invitationId: string
  sealedContent: string
  userId: string
  email: string
  expiresAt: Instant
}

/** Stands or falls with the invitation, and is tried for as long as that is valid. */
export async function queueInvitationMail(
  tx: Transaction,
  { expiresAt, ...mail }: InvitationMail,
  now: Instant,
): Promise<void> {
  await tx.insert(mails).values({ id: mail.invitationId, ...mail, dueAt: dueNow(now), giveUpAt: expiresAt })
}

/** An invitation that has ended is not sent any more. */
export async function dropInvitationMail(tx: Transaction, invitationId: string | undefined): Promise<void> {
  if (invitationId === undefined) return
  await tx.delete(mails).where(and(eq(mails.invitationId, invitationId), eq(mails.status, 'pending')))
}

/** A mail in hand for one attempt. */
export interface ClaimedMail extends LeasedRow {
  workspace_id: string
  notification_id: string | null
  invitation_id: string | null
  sealed_content: string | null
  email: string
}
export const mailColumns = ['workspace_id', 'notification_id', 'invitation_id', 'sealed_content', 'email']

/** What a mail is made of. */
export type MailContent =
  | { kind: 'notification'; notification: NotificationContent; workspaceSlug: string }
  | { kind: 'invitation'; invitationId: string; workspaceId: string; sealed: string }

/** Throws when there is no such content any more. */
export async function contentOf(run: StatementRunner, mail: ClaimedMail): Promise<MailContent> {
  const { invitation_id: invitationId, workspace_id: workspaceId, sealed_content: sealed } = mail
  if (invitationId !== null) return { kind: 'invitation', invitationId, workspaceId, sealed: sealed ?? '' }
  const [row] = await run.unsafe<{ state: unknown; slug: string | null }[]>(
    `select n.state, w.slug from notifications n left join workspaces w on w.id = n.workspace_id where n.id = $1`,
    [mail.notification_id],
    { prepare: true },
  )
  const notification = NotificationContent.parse(row?.state)
  return { kind: 'notification', notification, workspaceSlug: row?.slug ?? '' }
}

const keysOf = (rows: readonly { key: string }[]) => [rows.map(({ key }) => key)]

export const markSent = (tx: StatementRunner, sent: readonly { key: string }[]) =>
  tx.unsafe(
    `update mails set status = 'sent', sealed_content = null where id = any($1::text[])`,
    keysOf(sent),
    { prepare: true },
  )

/** Ends mails whose next attempt would come too late; nothing secret outlives the last one. */
export const giveUpLate = (tx: StatementRunner, failed: readonly { key: string }[]) =>
  tx.unsafe<{ mailId: string; userId: string; failures: number; reason: string }[]>(
    `update mails set status = 'failed', sealed_content = null
     where id = any($1::text[]) and held_until >= give_up_at
     returning id as "mailId", user_id as "userId", failures, last_error as reason`,
    keysOf(failed),
    { prepare: true },
  )
