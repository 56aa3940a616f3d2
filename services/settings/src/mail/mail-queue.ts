import { type Instant, NotificationContent, newId, platformTenant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { type Drizzle, dueNow, type LeasedRow, type StatementRunner } from '@opsplane/postgres'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { MailPurpose } from '../account/account-tokens.js'
import { mails } from '../schema.js'

/** The queued mail of an invitation. */
export interface InvitationMail {
  workspaceId: string
  invitationId: string
  sealedContent: string
  userId: string
  email: string
  expiresAt: Instant
}

/** Queued in the transaction of the invitation, and retried while the invitation is valid. */
export async function queueInvitationMail(
  tx: Transaction,
  { expiresAt, ...mail }: InvitationMail,
  now: Instant,
): Promise<void> {
  await tx.insert(mails).values({ id: mail.invitationId, ...mail, dueAt: dueNow(now), giveUpAt: expiresAt })
}

/** Time after which a mail about a login is no longer sent, in milliseconds. */
const accountMailMs = 3_600_000

/**
 * Runs the same statement whether or not the address has a login, and stores no secret. At most one unsent mail is
 * queued.
 */
export async function queueAccountMail(
  db: Pick<Drizzle, 'insert'>,
  { email, purpose }: { email: string; purpose: MailPurpose },
  now: Instant,
): Promise<void> {
  const giveUpAt = new Date(Date.parse(now) + accountMailMs).toISOString()
  const { workspaceId } = platformTenant
  await db
    .insert(mails)
    .values({
      id: newId('accountToken'),
      workspaceId,
      userId: '',
      email,
      purpose,
      dueAt: dueNow(now),
      giveUpAt,
    })
    .onConflictDoNothing()
}

/**
 * A notice about a person's login: a sign-in with its place, program and time, or the removal of factors by an
 * operator or admin.
 */
export const SignInNotice = z.object({
  at: z.string(),
  address: z.string(),
  userAgent: z.string(),
  what: z.enum(['sign_in', 'factors_removed']).default('sign_in'),
})
export type SignInNotice = z.infer<typeof SignInNotice>

/** Time after which such a notice is no longer sent, in milliseconds. */
const signInMailMs = 24 * 3_600_000

/** Queued in the transaction it reports, and sent even if that session has ended by then. */
export async function queueSignInMail(
  tx: Transaction,
  { accountId, email, signIn }: { accountId: string; email: string; signIn: z.input<typeof SignInNotice> },
): Promise<void> {
  const giveUpAt = new Date(Date.parse(signIn.at) + signInMailMs).toISOString()
  const { workspaceId } = platformTenant
  const id = newId('accountToken')
  await tx
    .insert(mails)
    .values({ id, workspaceId, userId: accountId, email, signIn, dueAt: dueNow(signIn.at), giveUpAt })
}

/** Removes the queued mail of an invitation that has ended. */
export async function dropInvitationMail(tx: Transaction, invitationId: string | undefined): Promise<void> {
  if (invitationId === undefined) return
  await tx.delete(mails).where(and(eq(mails.invitationId, invitationId), eq(mails.status, 'pending')))
}

/** A mail claimed for one attempt. */
export interface ClaimedMail extends LeasedRow {
  workspace_id: string
  notification_id: string | null
  invitation_id: string | null
  sealed_content: string | null
  purpose: MailPurpose | null
  sign_in: unknown
  email: string
}
export const mailColumns = [
  'workspace_id',
  'notification_id',
  'invitation_id',
  'sealed_content',
  'purpose',
  'sign_in',
  'email',
]

/** The content of a mail. */
export type MailContent =
  | { kind: 'notification'; notification: NotificationContent; workspaceSlug: string }
  | { kind: 'invitation'; invitationId: string; workspaceId: string; sealed: string }
  | { kind: 'account'; purpose: MailPurpose }
  | { kind: 'sign_in'; signIn: SignInNotice }

/** Throws if the content no longer exists. */
export async function readMailContent(run: StatementRunner, mail: ClaimedMail): Promise<MailContent> {
  const { invitation_id: invitationId, workspace_id: workspaceId, sealed_content: sealed } = mail
  if (invitationId !== null) return { kind: 'invitation', invitationId, workspaceId, sealed: sealed ?? '' }
  if (mail.purpose !== null) return { kind: 'account', purpose: mail.purpose }
  if (mail.sign_in !== null) return { kind: 'sign_in', signIn: SignInNotice.parse(mail.sign_in) }
  const [row] = await run.unsafe<{ state: unknown; slug: string | null }[]>(
    `select n.state, w.slug from notifications n left join workspaces w on w.id = n.workspace_id where n.id = $1`,
    [mail.notification_id],
    { prepare: true },
  )
  const notification = NotificationContent.parse(row?.state)
  return { kind: 'notification', notification, workspaceSlug: row?.slug ?? '' }
}

const ofLogin = '(purpose is not null or sign_in is not null)'

const toKeyParameter = (rows: readonly { key: string }[]) => [rows.map(({ key }) => key)]

/**
 * A mail about a login is deleted completely, because anyone may have requested it, or because it reveals where a
 * person was.
 */
export const markSent = (tx: StatementRunner, sent: readonly { key: string }[]) =>
  tx.unsafe(
    `with gone as (delete from mails where id = any($1::text[]) and ${ofLogin})
     update mails set status = 'sent', sealed_content = null where id = any($1::text[]) and not ${ofLogin}`,
    toKeyParameter(sent),
    { prepare: true },
  )

/** Ends mails whose next attempt would be too late, and deletes their secrets. */
export const expireMails = (tx: StatementRunner, failed: readonly { key: string }[]) =>
  tx.unsafe<{ mailId: string; userId: string; failures: number; reason: string }[]>(
    `with gone as (delete from mails where id = any($1::text[]) and ${ofLogin} and held_until >= give_up_at)
     update mails set status = 'failed', sealed_content = null
     where id = any($1::text[]) and not ${ofLogin} and held_until >= give_up_at
     returning id as "mailId", user_id as "userId", failures, last_error as reason`,
    toKeyParameter(failed),
    { prepare: true },
  )
