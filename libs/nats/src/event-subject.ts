import type { NatsNames, PlatformEvent } from '@opsplane/contracts'
import { SubjectMismatchError } from './errors.js'
import type { StreamMessage } from './stream-message.js'

/**
 * Throws SubjectMismatchError unless the message's subject belongs to the event in it. Server permissions and
 * consumer filters rely on the subject, so an event that differs from it could cross into another workspace.
 */
export function checkEventSubject(
  names: NatsNames,
  { subject }: Pick<StreamMessage, 'subject'>,
  event: Pick<PlatformEvent, 'workspaceId' | 'environment' | 'type'>,
): void {
  if (subject !== names.eventSubject(event)) throw new SubjectMismatchError(subject)
}

/** The key within which events are handled in order: the aggregate. */
export const eventQueueKey = ({ workspaceId, resource }: Pick<PlatformEvent, 'workspaceId' | 'resource'>) =>
  `${workspaceId}/${resource.type}/${resource.id}`
