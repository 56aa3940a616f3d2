import type { Instant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { dueNow } from '@opsplane/postgres'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { mails, memberships } from '../schema.js'

/** For so long after the event a mail about it is of use; afterwards it is given up. */
const mailWorthMs = 24 * 3_600_000

/** Whom the platform writes to. */
const adminRoles = ['owner', 'admin']

/** One mail per notification and active admin. What is older than a mail is worth, as after a reseed, gets none. */
export async function queueAdminMails(
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
      .map(({ workspaceId, userId, email }) => ({
        id: `${notification.id}.${userId}`,
        ...{ workspaceId, notificationId: notification.id, userId, email, dueAt: dueNow(now) },
        giveUpAt: new Date(Date.parse(notification.createdAt) + mailWorthMs).toISOString(),
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
