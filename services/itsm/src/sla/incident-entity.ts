import { IncidentComment, IncidentState, itsmEvents } from '@opsplane/contracts'
import { saidByCaller } from '../incident/caller.js'
import { slaEntity } from './entity.js'

export const incidentEntity = slaEntity({
  entityType: 'incident',
  table: 'incidents',
  numberPrefix: 'INC-',
  eventTypes: Object.keys(itsmEvents),
  metrics: ['response', 'resolution'],
  goalsBy: ['severity', 'priority', 'all'],
  pauseReasons: ['awaiting_caller', 'awaiting_vendor'],
  openStatuses: ['open', 'in_progress', 'on_hold'],
  state: IncidentState,
  facts: ({ id, number, createdAt, status, severity, priority, holdReason, ...rest }, comment) => ({
    ...{ id, number, createdAt, status, severity, priority, holdReason },
    ended: endOf(status),
    response: rest.assigneeId !== null ? 'assigned' : isAnswer(rest, comment) ? 'answered' : begun(status),
  }),
})

function endOf(status: IncidentState['status']) {
  if (status === 'canceled') return 'canceled'
  return status === 'resolved' || status === 'closed' ? 'completed' : null
}

const begun = (status: IncidentState['status']) => (status === 'open' ? null : status)

/** The caller's own words are no answer; where no caller is named, it is who opened the incident. */
function isAnswer(
  { callerId, createdBy }: Pick<IncidentState, 'callerId' | 'createdBy'>,
  given: unknown,
): boolean {
  if (given === null || given === undefined) return false
  const comment = IncidentComment.parse(given)
  return comment.visibility === 'public' && !saidByCaller(comment, { callerId: callerId ?? createdBy.id })
}
