import { type Instant, NotificationContent } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Mail } from '../mail/mailer.js'
import { notificationMails as mails, memberships, notifications, workspaces } from '../schema.js'
import { type AfterFailure, mailWorthMs } from './mail-retry.js'
import { notificationMail } from './mail-text.js'

/** Whom the platform writes to. */
const adminRoles = ['owner', 'admin']

/** One mail per notification and active admin. What is older than a mail is worth, as after a reseed, gets none. */
export async function queueMails(
  tx: Transaction,
  made: { id: string; workspaceId: string; createdAt: Instant }[],
  now: Instant,
): Promise<void> {
  const nowMs = Date.parse(now)
  const fresh = made.filter(({ createdAt }) => Date.parse(createdAt) + mailWorthMs > nowMs)
  if (fresh.length === 0) return
  const admins = await adminsOf(
    tx,
    fresh.map(({ workspaceId }) => workspaceId),
  )
  const rows = fresh.flatMap((notification) =>
    admins
      .filter(({ workspaceId }) => workspaceId === notification.workspaceId)
      .map(({ userId, email }) => ({
        id: `${notification.id}.${userId}`,
        ...{ notificationId: notification.id, userId, email, dueAt: nowMs },
        giveUpAt: Date.parse(notification.createdAt) + mailWorthMs,
      })),
  )
  if (rows.length > 0) await tx.insert(mails).values(rows).onConflictDoNothing()
}

function adminsOf(tx: Transaction, workspaceIds: string[]) {
  return tx
    .select({
      workspaceId: memberships.workspaceId,
      userId: sql<string>`${memberships.userId}`,
      email: sql<string>`${memberships.state}->>'email'`,
    })
    .from(memberships)
    .where(
      and(
        inArray(memberships.workspaceId, workspaceIds),
        eq(memberships.status, 'active'),
        inArray(memberships.role, adminRoles),
      ),
    )
}

/** A mail leased for one attempt. */
export interface ClaimedMail {
  mail: Mail
  notificationId: string
  userId: string
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
    const rows = await tx
      .select({ mail: mails, content: notifications.state, slug: workspaces.slug })
      .from(mails)
      .innerJoin(notifications, eq(notifications.id, mails.notificationId))
      .innerJoin(workspaces, eq(workspaces.id, notifications.workspaceId))
      .where(and(eq(mails.status, 'pending'), lte(mails.dueAt, nowMs)))
      .orderBy(asc(mails.dueAt))
      .limit(limit)
      .for('update', { of: mails, skipLocked: true })
    const ids = rows.map(({ mail }) => mail.id)
    if (ids.length === 0) return []
    await tx
      .update(mails)
      .set({ dueAt: nowMs + leaseMs, attempts: sql`${mails.attempts} + 1` })
      .where(inArray(mails.id, ids))
    return rows.map(({ mail: { id, email, notificationId, userId, attempts, giveUpAt }, content, slug }) => ({
      mail: notificationMail(NotificationContent.parse(content), { id, email, workspaceSlug: slug ?? '' }),
      ...{ notificationId, userId, giveUpAt, attempts: attempts + 1 },
    }))
  })
}

/** What became of an attempt. Says nothing when its lease has passed to another one meanwhile. */
export async function settleMail(
  db: Drizzle,
  { mail, attempts }: ClaimedMail,
  outcome: { status: 'sent'; lastError: null } | (AfterFailure & { lastError: string }),
): Promise<void> {
  await db
    .update(mails)
    .set(outcome)
    .where(and(eq(mails.id, mail.id), eq(mails.status, 'pending'), eq(mails.attempts, attempts)))
}

/** Ends a lease without an outcome, so that another replica, or this one after its restart, need not wait. */
export async function giveBackMail(
  db: Drizzle,
  { mail, attempts }: ClaimedMail,
  nowMs: number,
): Promise<void> {
  await db
    .update(mails)
    .set({ dueAt: nowMs, attempts: attempts - 1 })
    .where(and(eq(mails.id, mail.id), eq(mails.status, 'pending'), eq(mails.attempts, attempts)))
}
