import {
  type Instant,
  type Notification,
  NotificationContent,
  notFound,
  type Principal,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, exists, inArray, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import { notifications, notificationReads as reads } from '../schema.js'

/** Matches the unread or read notifications of the user; all of them if `unread` is not given. */
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

/** The notifications with the read marks of this user. */
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

type Reader = Pick<Principal, 'userId' | 'role' | 'permissions'>

/**
 * Matches the notifications for this person: those that name them or their role, and those for admins if they have
 * `right`.
 */
export function audienceCondition(
  { userId, role, permissions }: Reader,
  right: 'notifications:read' | 'notifications:write' = 'notifications:read',
): SQL | undefined {
  const names = sql.join(
    [`user:${userId}`, ...(role === undefined ? [] : [`role:${role}`])].map((name) => sql`${name}`),
    sql`, `,
  )
  const audienceMatch = sql`${notifications.audience} && array[${names}]::text[]`
  return permissions.includes(right) ? or(isNull(notifications.audience), audienceMatch) : audienceMatch
}

/** The notification with the read mark of this user. Throws `not_found`, also for notifications to others. */
export async function findNotification(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  reader: Reader,
  id: string,
  right: 'notifications:read' | 'notifications:write' = 'notifications:read',
): Promise<Notification> {
  const { userId } = reader
  const [row] = await db
    .select({ state: notifications.state, readAt: reads.readAt })
    .from(notifications)
    .leftJoin(reads, and(eq(reads.notificationId, notifications.id), eq(reads.userId, userId)))
    .where(
      and(
        eq(notifications.workspaceId, workspaceId),
        eq(notifications.environment, environment),
        eq(notifications.id, id),
        audienceCondition(reader, right),
      ),
    )
  if (!row) throw notFound()
  return { ...NotificationContent.parse(row.state), readAt: row.readAt }
}

/** Marks the notification as read by this user; the first mark is kept. Throws `not_found`. */
export async function markRead(
  db: Drizzle,
  tenant: TenantScope,
  reader: Reader,
  id: string,
  now: Instant,
): Promise<Notification> {
  const { userId } = reader
  const found = await findNotification(db, tenant, reader, id, 'notifications:write')
  if (found.readAt !== null) return found
  await db.insert(reads).values({ notificationId: id, userId, readAt: now }).onConflictDoNothing()
  return findNotification(db, tenant, reader, id, 'notifications:write')
}
