import {
  type Instant,
  type Notification,
  NotificationContent,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, exists, inArray, not, type SQL } from 'drizzle-orm'
import { notifications, notificationReads as reads } from '../schema.js'

/** Those the user has not read, or has; all of them when `unread` is not given. */
export function readCondition(db: Drizzle, userId: string, unread: boolean | undefined): SQL | undefined {
  if (unread === undefined) return undefined
  const mark = exists(
    db
      .select({ id: reads.notificationId })
      .from(reads)
      .where(and(eq(reads.notificationId, notifications.id), eq(reads.userId, userId))),
  )
  return unread ? not(mark) : mark
}

/** The notifications as this user sees them. */
export async function withReadMarks(
  db: Drizzle,
  userId: string,
  contents: NotificationContent[],
): Promise<Notification[]> {
  if (contents.length === 0) return []
  const ids = contents.map(({ id }) => id)
  const rows = await db
    .select()
    .from(reads)
    .where(and(eq(reads.userId, userId), inArray(reads.notificationId, ids)))
  const readAt = new Map(rows.map((row) => [row.notificationId, row.readAt]))
  return contents.map((content) => ({ ...content, readAt: readAt.get(content.id) ?? null }))
}

/** The notification as this user sees it. Throws `not_found`. */
export async function notificationFor(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  userId: string,
  id: string,
): Promise<Notification> {
  const [row] = await db
    .select({ state: notifications.state, readAt: reads.readAt })
    .from(notifications)
    .leftJoin(reads, and(eq(reads.notificationId, notifications.id), eq(reads.userId, userId)))
    .where(
      and(
        eq(notifications.workspaceId, workspaceId),
        eq(notifications.environment, environment),
        eq(notifications.id, id),
      ),
    )
  if (!row) throw notFound()
  return { ...NotificationContent.parse(row.state), readAt: row.readAt }
}

/** Marks it as read by this user; the first mark stays. Throws `not_found`. */
export async function markRead(
  db: Drizzle,
  tenant: TenantScope,
  userId: string,
  id: string,
  now: Instant,
): Promise<Notification> {
  const found = await notificationFor(db, tenant, userId, id)
  if (found.readAt !== null) return found
  await db.insert(reads).values({ notificationId: id, userId, readAt: now }).onConflictDoNothing()
  return notificationFor(db, tenant, userId, id)
}
