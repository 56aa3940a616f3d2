import { type Instant, NotificationContent } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import { mails, memberships, notifications, workspaces } from '../schema.js'
import type { AfterFailure } from './mail-retry.js'

/** The mail that brings an invitation, as it waits for being sent. */
export interface InvitationMail {
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
  const times = { dueAt: Date.parse(now), giveUpAt: Date.parse(expiresAt) }
  await tx.insert(mails).values({ id: mail.invitationId, ...mail, ...times })
}

/** An invitation that has ended is not sent any more. */
export async function dropInvitationMail(tx: Transaction, invitationId: string | undefined): Promise<void> {
  if (invitationId === undefined) return
  await tx.delete(mails).where(and(eq(mails.invitationId, invitationId), eq(mails.status, 'pending')))
}

/** What a mail is made of. */
export type MailContent =
  | { kind: 'notification'; notification: NotificationContent; workspaceSlug: string }
  | { kind: 'invitation'; invitationId: string; workspaceId: string; sealed: string }

/** A mail leased for one attempt. */
export interface ClaimedMail {
  id: string
  email: string
  userId: string
  content: MailContent
  /** With this one. */
  attempts: number
  giveUpAt: number
}

/** Leases mails that are due, the longest due first. Replicas pass over each other's. */
export function claimMails(
  db: Drizzle,
  { nowMs, leaseMs, limit }: { nowMs: number; leaseMs: number; limit: number },
): Promise<ClaimedMail[]> {
  return db.transaction(async (tx) => {
    const rows = await dueMails(tx, nowMs, limit)
    const ids = rows.map(({ mail }) => mail.id)
    if (ids.length === 0) return []
    await tx
      .update(mails)
      .set({ dueAt: nowMs + leaseMs, attempts: sql`${mails.attempts} + 1` })
      .where(inArray(mails.id, ids))
    return rows.map((row) => {
      const { id, email, userId, giveUpAt, attempts } = row.mail
      return { id, email, userId, giveUpAt, attempts: attempts + 1, content: contentOf(row) }
    })
  })
}

function dueMails(tx: Transaction, nowMs: number, limit: number) {
  return tx
    .select({
      mail: mails,
      notification: notifications.state,
      invitedTo: memberships.workspaceId,
      workspaceSlug: workspaces.slug,
    })
    .from(mails)
    .leftJoin(notifications, eq(notifications.id, mails.notificationId))
    .leftJoin(memberships, eq(memberships.invitationId, mails.invitationId))
    .leftJoin(workspaces, eq(workspaces.id, notifications.workspaceId))
    .where(and(eq(mails.status, 'pending'), lte(mails.dueAt, nowMs)))
    .orderBy(asc(mails.dueAt))
    .limit(limit)
    .for('update', { of: mails, skipLocked: true })
}

type DueMail = Awaited<ReturnType<typeof dueMails>>[number]

function contentOf({ mail, notification, invitedTo, workspaceSlug }: DueMail): MailContent {
  const { invitationId, sealedContent } = mail
  if (invitationId === null) {
    const told = NotificationContent.parse(notification)
    return { kind: 'notification', notification: told, workspaceSlug: workspaceSlug ?? '' }
  }
  return { kind: 'invitation', invitationId, workspaceId: invitedTo ?? '', sealed: sealedContent ?? '' }
}

/** What became of an attempt; nothing secret outlives the last one. Says nothing when its lease has passed to another one meanwhile. */
export async function settleMail(
  db: Drizzle,
  { id, attempts }: ClaimedMail,
  outcome: { status: 'sent'; lastError: null } | (AfterFailure & { lastError: string }),
): Promise<void> {
  await db
    .update(mails)
    .set(outcome.status === 'pending' ? outcome : { ...outcome, sealedContent: null })
    .where(and(eq(mails.id, id), eq(mails.status, 'pending'), eq(mails.attempts, attempts)))
}

/** Ends a lease without an outcome, so that another replica, or this one after its restart, need not wait. */
export async function giveBackMail(db: Drizzle, { id, attempts }: ClaimedMail, nowMs: number): Promise<void> {
  await db
    .update(mails)
    .set({ dueAt: nowMs, attempts: attempts - 1 })
    .where(and(eq(mails.id, id), eq(mails.status, 'pending'), eq(mails.attempts, attempts)))
}
