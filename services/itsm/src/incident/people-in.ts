import type { IncidentPatch } from '@opsplane/contracts'
import type { Named } from '../people.js'

/** Whom a new incident, or a change of one, names: all of them must be members. */
export const peopleIn = ({
  assigneeId,
  callerId,
  watcherIds,
}: Pick<IncidentPatch, 'assigneeId' | 'callerId' | 'watcherIds'>): Named => ({
  assigneeId,
  callerId,
  watcherIds,
})
