import type { IncidentPatch } from '@opsplane/contracts'
import type { NamedPeople } from '../people.js'

/** Whom a new incident, or a change of one, names: all of them must be members. */
export const namedPeople = ({
  assigneeId,
  callerId,
  watcherIds,
}: Pick<IncidentPatch, 'assigneeId' | 'callerId' | 'watcherIds'>): NamedPeople => ({
  assigneeId,
  callerId,
  watcherIds,
})
