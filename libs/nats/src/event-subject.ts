import type { NatsNames, PlatformEvent } from '@opsplane/contracts'
import { SubjectMismatchError } from './errors.js'
import type { StreamMessage } from './stream-message.js'

/**
 * Throws SubjectMismatchError unless the message came under the subject of the event in it. Permissions on the server and
 * the filters of consumers go by the subject, so an event that says something else could cross into another workspace.
 */
export function checkEventSubject(
  names: NatsNames,
  { subject }: Pick<StreamMessage, 'subject'>,
  event: Pick<PlatformEvent, 'workspaceId' | 'environment' | 'type'>,
): void {
  if (subject !== names.eventSubject(event)) throw new SubjectMismatchError(subject)
}

/** What is handled in order: the aggregate. */
export const eventQueueKey = ({ workspaceId, resource }: Pick<PlatformEvent, 'workspaceId' | 'resource'>) =>
  `${workspaceId}/${resource.type}/${resource.id}`
