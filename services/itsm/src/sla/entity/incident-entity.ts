import { IncidentComment, IncidentState, itsmEvents } from '@opsplane/contracts'
import { isCallerComment } from '../../incident/comment/caller-comment.js'
import type { SpanSignal } from './entity.js'
import { type Reported, slaEntity } from './entity.js'

const open = ['open', 'in_progress', 'on_hold']

export const incidentEntity = slaEntity({
  entityType: 'incident',
  table: 'incidents',
  numberPrefix: 'INC-',
  durable: 'itsm-incident-timers',
  eventTypes: Object.keys(itsmEvents),
  metrics: { response: ['open'], resolution: open, next_response: open },
  spanEvents: ['incident.comment_added', 'incident.resolved', 'incident.closed'],
  goalsBy: ['severity', 'priority', 'all'],
  pauseReasons: ['awaiting_caller', 'awaiting_vendor'],
  openStatuses: open,
  state: IncidentState,
  facts: ({ id, number, createdAt, status, severity, priority, holdReason, ...rest }, reported) => {
    const said = findCommenter(rest, reported)
    const next = nextResponse(status, said, reported)
    return {
      ...{ id, number, createdAt, status, severity, priority, holdReason },
      ended: findEnd(status),
      response: rest.assigneeId !== null ? 'assigned' : said === 'others' ? 'answered' : findStart(status),
      ...(next && { spans: { next_response: next } }),
    }
  },
})

function findEnd(status: IncidentState['status']) {
  if (status === 'canceled') return 'canceled'
  return status === 'resolved' || status === 'closed' ? 'completed' : null
}

const findStart = (status: IncidentState['status']) => (status === 'open' ? null : status)

/**
 * The event, not the status, ends the wait for a response: when a comment by the caller reopens an incident, the
 * incident is still resolved at the time of the comment.
 */
function nextResponse(
  status: IncidentState['status'],
  commenter: ReturnType<typeof findCommenter>,
  { type }: Reported,
): SpanSignal | null {
  if (commenter !== null)
    return commenter === 'caller' ? { is: 'waiting', reason: null } : { is: 'done', reason: 'answered' }
  if (type !== 'incident.resolved' && type !== 'incident.closed') return null
  return status === 'canceled' ? { is: 'off', reason: 'incident canceled' } : { is: 'done', reason: status }
}

/** Returns the author of a public comment. If the incident names no caller, its creator counts as the caller. */
function findCommenter(
  { callerId, createdBy }: Pick<IncidentState, 'callerId' | 'createdBy'>,
  { comment: given }: Reported,
): 'caller' | 'others' | null {
  if (given === null || given === undefined) return null
  const comment = IncidentComment.parse(given)
  if (comment.visibility !== 'public') return null
  return isCallerComment(comment, { callerId: callerId ?? createdBy.id }) ? 'caller' : 'others'
}
