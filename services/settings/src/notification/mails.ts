import type { Instant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { dueNow } from '@opsplane/postgres'
import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { mails, memberships } from '../schema.js'

/** For so long after the event a mail about it is of use; afterwards it is given up. */
const mailWorthMs = 24 * 3_600_000

/** The roles that get notifications without named recipients. */
const adminRoles = ['owner', 'admin']

/** One mail per notification and active member whom it is for. What is older than a mail is worth, as after a reseed, gets none. */
export async function queueNotificationMails(
  tx: Transaction,
  made: CreatedNotification[],
  now: Instant,
): Promise<void> {
  const nowMs = Date.parse(now)
  const fresh = made.filter(({ createdAt }) => Date.parse(createdAt) + mailWorthMs > nowMs)
  if (fresh.length === 0) return
  for (const notification of fresh) {
    const { id, workspaceId, createdAt } = notification
    const rows = (await recipientsOf(tx, notification)).map(({ userId, email }) => ({
      id: `${id}.${userId}`,
      ...{ workspaceId, notificationId: id, userId, email, dueAt: dueNow(now) },
      giveUpAt: new Date(Date.parse(createdAt) + mailWorthMs).toISOString(),
    }))
    if (rows.length > 0) await tx.insert(mails).values(rows).onConflictDoNothing()
  }
}

/** Members whom it is for: those it names, or who have a role that it names, else the admins. */
function recipientsOf(tx: Transaction, { workspaceId, audience }: CreatedNotification) {
  const named = (kind: string) =>
    (audience ?? []).flatMap((each) => (each.startsWith(`${kind}:`) ? [each.slice(kind.length + 1)] : []))
  const [users, roles] = [named('user'), audience === null ? adminRoles : named('role')]
  return tx
    .select({
      userId: sql<string>`${memberships.userId}`,
      email: sql<string>`${memberships.state}->>'email'`,
    })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.status, 'active'),
        or(inArray(memberships.userId, users), inArray(memberships.role, roles)),
      ),
    )
}

/** A notification that was not there before. */
export interface CreatedNotification {
  id: string
  workspaceId: string
  createdAt: Instant
  audience: string[] | null
}
