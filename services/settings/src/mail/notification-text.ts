import type { NotificationContent } from '@opsplane/contracts'
import type { Mail } from './mailer.js'

export interface MailAddressing {
  id: string
  email: string
  workspaceSlug: string
}

/** The mail about a notification to one person. */
export function notificationMail(notification: NotificationContent, addressing: MailAddressing): Mail {
  const { id, title, message, environment, createdAt, eventId, audience } = notification
  const reason = audience === null ? 'administer' : 'may decide on this in'
  const { workspaceSlug } = addressing
  const lines = [
    message,
    '',
    `Workspace:    ${workspaceSlug}`,
    `Environment:  ${environment}`,
    `Happened:     ${createdAt}`,
    `Event:        ${eventId}`,
    `Notification: GET /api/v1/notifications/${id}`,
    '',
    `You get this mail because you ${reason} the workspace ${workspaceSlug}.`,
  ]
  return {
    id: addressing.id,
    to: addressing.email,
    subject: `[${workspaceSlug} ${environment}] ${title}`,
    text: `${lines.join('\n')}\n`,
  }
}
