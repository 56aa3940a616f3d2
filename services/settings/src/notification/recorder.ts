import { NotificationContent, newId, type PlatformEvent, parseEventFamily } from '@opsplane/contracts'
import type { EventConsumer, Transaction } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { notifications } from '../schema.js'
import type { CreatedNotification } from './mails.js'
import { queueNotificationMails } from './mails.js'
import { notificationText, notifiedTypes } from './text.js'

/**
 * Creates a notification for each event that admins or others should know about, once even if redelivered, together
 * with its mails if mail is available.
 */
export function recordNotifications(
  { consume, clock }: ServiceContext,
  { withMail }: { withMail: boolean },
): EventConsumer[] {
  const families = new Set(notifiedTypes.map(parseEventFamily))
  return [...families].map((family) =>
    consume({
      durable: `settings-${family}-notifications`,
      types: notifiedTypes.filter((type) => parseEventFamily(type) === family),
      async handle(events, tx) {
        const made = await insertNotifications(tx, events)
        if (withMail) await queueNotificationMails(tx, made, clock.now())
      },
    }),
  )
}

async function insertNotifications(tx: Transaction, events: PlatformEvent[]): Promise<CreatedNotification[]> {
  const rows = events.flatMap((event) => notificationRow(event) ?? [])
  if (rows.length === 0) return []
  const inserted = await tx
    .insert(notifications)
    .values(rows)
    .onConflictDoNothing({ target: notifications.eventId })
    .returning({ id: notifications.id })
  const made = new Set(inserted.map(({ id }) => id))
  return rows
    .filter(({ id }) => made.has(id))
    .map(({ id, workspaceId, audience, state }) => ({
      id,
      workspaceId,
      audience,
      createdAt: state.createdAt,
    }))
}

function notificationRow(event: PlatformEvent) {
  const text = notificationText(event)
  if (text === null) return null
  const { workspaceId, environment, version, resource, type, createdAt } = event
  const id = newId('notification')
  const { audience = null } = text
  const reported = { id, type, ...text, audience, resource, eventId: event.id, environment, createdAt }
  const state = NotificationContent.parse(reported)
  return { id, workspaceId, environment, eventId: event.id, version, audience, state }
}
