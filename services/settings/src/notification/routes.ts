import { Notification, NotificationContent, NotificationFilters } from '@opsplane/contracts'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { notifications as table } from '../schema.js'
import { audienceCondition, findNotification, markRead, readCondition, withReadMarks } from './queries.js'

const tag = 'Notifications'

const route = defineResource({
  name: 'Notification',
  path: '/notifications',
  tag,
  read: 'authenticated',
  write: 'authenticated',
  response: Notification,
})

/**
 * Notifications of the current workspace and environment: those for admins, for users with `notifications:read`, and
 * those that name the caller or their role. Each user has their own read marks.
 */
export function notificationRoutes({
  database: { db },
  cursors,
}: Pick<ServiceContext, 'database' | 'cursors'>): Route[] {
  return [
    route.list({
      summary: 'List notifications',
      description:
        'Returns automatic actions of the platform that need attention, for admins (`notifications:read`), and ' +
        'pending tasks of the caller, such as approvals. Newest first.',
      query: NotificationFilters,
      handler: async ({ query: { limit, after, sort, unread }, binding, meta }) => {
        const { userId } = meta.principal
        const page = await keysetPage(db, {
          table,
          tenant: meta.tenant,
          where: [audienceCondition(meta.principal), readCondition(db, userId, unread)],
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, cursors, binding: `${userId}|${binding}` },
          present: ({ state }) => NotificationContent.parse(state),
        })
        return { ...page, items: await withReadMarks(db, userId, page.items) }
      },
    }),

    route.get({
      summary: 'Get a notification',
      description: 'Includes `readAt` of the calling user. A notification for another user returns 404.',
      handler: ({ params, meta }) => findNotification(db, meta.tenant, meta.principal, params.id),
    }),

    defineRoute({
      operationId: 'markNotificationRead',
      method: 'post',
      path: '/notifications/:id/read',
      summary: 'Mark a notification as read',
      description: 'Applies to the calling user only. Repeating the request changes nothing. Emits no event.',
      tag,
      scope: 'authenticated',
      response: Notification,
      // Repeating the request is safe without a stored response.
      idempotency: 'none',
      handler: ({ params, meta }) => markRead(db, meta.tenant, meta.principal, params.id, meta.now),
    }),
  ]
}
