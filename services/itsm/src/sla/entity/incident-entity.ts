import { IncidentComment, IncidentState, itsmEvents } from '@opsplane/contracts'
import { saidByCaller } from '../../incident/comment/caller.js'
import type { SpanSign } from './entity.js'
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
    const said = saidBy(rest, reported)
    const next = nextResponse(status, said, reported)
    return {
      ...{ id, number, createdAt, status, severity, priority, holdReason },
      ended: endOf(status),
      response: rest.assigneeId !== null ? 'assigned' : said === 'others' ? 'answered' : begun(status),
      ...(next && { spans: { next_response: next } }),
    }
  },
})

function endOf(status: IncidentState['status']) {
  if (status === 'canceled') return 'canceled'
  return status === 'resolved' || status === 'closed' ? 'completed' : null
}

const begun = (status: IncidentState['status']) => (status === 'open' ? null : status)

/**
 * A caller whose words reopen the incident says them while it is resolved still: it is the event that ends what is
 * waited for, not the status.
 */
function nextResponse(
  status: IncidentState['status'],
  said: ReturnType<typeof saidBy>,
  { type }: Reported,
): SpanSign | null {
  if (said !== null)
    return said === 'caller' ? { is: 'waiting', reason: null } : { is: 'done', reason: 'answered' }
  if (type !== 'incident.resolved' && type !== 'incident.closed') return null
  return status === 'canceled' ? { is: 'off', reason: 'incident canceled' } : { is: 'done', reason: status }
}

/** Who has said something in public. Where no caller is named, it is who opened the incident. */
function saidBy(
  { callerId, createdBy }: Pick<IncidentState, 'callerId' | 'createdBy'>,
  { comment: given }: Reported,
): 'caller' | 'others' | null {
  if (given === null || given === undefined) return null
  const comment = IncidentComment.parse(given)
  if (comment.visibility !== 'public') return null
  return saidByCaller(comment, { callerId: callerId ?? createdBy.id }) ? 'caller' : 'others'
}
