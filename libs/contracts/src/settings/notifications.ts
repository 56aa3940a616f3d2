import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Environment } from '../core/principal.js'
import { EventResource } from '../events/event.js'

const At = z.iso.datetime({ precision: 3 })

export const NotificationSeverity = z.enum(['info', 'warning', 'critical'])
export type NotificationSeverity = z.infer<typeof NotificationSeverity>

/** Content of a notification, identical for all recipients. */
export const NotificationContent = z.object({
  id: idSchema('notification'),
  type: z
    .string()
    .meta({ description: 'Type of the event that caused the notification.', example: 'webhook.paused' }),
  title: z.string(),
  message: z.string().meta({ description: 'Text that describes the event and the next action.' }),
  severity: NotificationSeverity,
  resource: EventResource.pick({ type: true, id: true, displayName: true }).meta({
    description: 'Resource that the notification concerns.',
  }),
  eventId: z
    .string()
    .meta({ description: 'Id of the event that caused the notification, as in the audit log.' }),
  environment: Environment,
  audience: z.array(z.string()).nullable().meta({
    description: 'Recipients, as `user:<id>` and `role:<name>`; `null` if the notification is for admins.',
  }),
  createdAt: At.meta({ description: 'Time of the event.' }),
})
export type NotificationContent = z.infer<typeof NotificationContent>

export const Notification = NotificationContent.extend({
  readAt: At.nullable().meta({
    description: 'Time at which the calling user marked the notification as read.',
  }),
}).meta({ id: 'Notification' })
export type Notification = z.infer<typeof Notification>

export const NotificationFilters = z.object({
  unread: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description:
        '`true`: only notifications that the calling user has not read. `false`: only notifications that the user ' +
        'has read.',
    }),
})
