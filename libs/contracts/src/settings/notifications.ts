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
  type: z.string().meta({ description: 'Type of the event it tells of.', example: 'webhook.paused' }),
  title: z.string(),
  message: z.string().meta({ description: 'What happened, and what to do next.' }),
  severity: NotificationSeverity,
  resource: EventResource.pick({ type: true, id: true, displayName: true }).meta({
    description: 'What it is about.',
  }),
  eventId: z.string().meta({ description: 'The event it tells of, as in the audit log.' }),
  environment: Environment,
  audience: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Whom it is for, as `user:<id>` and `role:<name>`; null: for admins.' }),
  createdAt: At.meta({ description: 'When it happened.' }),
})
export type NotificationContent = z.infer<typeof NotificationContent>

export const Notification = NotificationContent.extend({
  readAt: At.nullable().meta({ description: 'When the calling user marked it as read.' }),
}).meta({ id: 'Notification' })
export type Notification = z.infer<typeof Notification>

export const NotificationFilters = z.object({
  unread: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'Only those the calling user has not read (`true`) or has read (`false`).' }),
})
