import type { Instant } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { dueNow } from '@opsplane/postgres'
import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { mails, memberships } from '../schema.js'

/** Time in milliseconds after an event during which a mail about it is sent; afterwards the mail is given up. */
const mailWorthMs = 24 * 3_600_000

/** The roles that receive notifications without named recipients. */
const adminRoles = ['owner', 'admin']

/** Queues one mail per notification and active recipient. Old notifications, as after a reseed, get none. */
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
    const rows = (await findRecipients(tx, notification)).map(({ userId, email }) => ({
      id: `${id}.${userId}`,
      ...{ workspaceId, notificationId: id, userId, email, dueAt: dueNow(now) },
      giveUpAt: new Date(Date.parse(createdAt) + mailWorthMs).toISOString(),
    }))
    if (rows.length > 0) await tx.insert(mails).values(rows).onConflictDoNothing()
  }
}

/** The members a notification is for: those named by id or role, or otherwise the admins. */
function findRecipients(tx: Transaction, { workspaceId, audience }: CreatedNotification) {
  const audienceOf = (kind: string) =>
    (audience ?? []).flatMap((each) => (each.startsWith(`${kind}:`) ? [each.slice(kind.length + 1)] : []))
  const [users, roles] = [audienceOf('user'), audience === null ? adminRoles : audienceOf('role')]
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

/** A newly created notification. */
export interface CreatedNotification {
  id: string
  workspaceId: string
  createdAt: Instant
  audience: string[] | null
}
