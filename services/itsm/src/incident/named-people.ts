import type { IncidentPatch } from '@opsplane/contracts'
import type { NamedPeople } from '../people.js'

/** Returns the users named by a new incident or a patch. All of them must be members. */
export const namedPeople = ({
  assigneeId,
  callerId,
  watcherIds,
}: Pick<IncidentPatch, 'assigneeId' | 'callerId' | 'watcherIds'>): NamedPeople => ({
  assigneeId,
  callerId,
  watcherIds,
})
