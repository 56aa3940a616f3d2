import type { IncidentComment, IncidentState, Instant, NewIncident } from '@opsplane/contracts'
import { isCallerComment } from './caller-comment.js'

/**
 * Records on an ended incident the follow-up that a later comment of
 * its caller opened. This is not an action: the status does not change.
 */
export interface FollowUp {
  kind: 'follow_up'
  followUpId: string
  now: Instant
}

export function followUpEvent({ followUpId, now }: FollowUp, state: IncidentState) {
  return { type: 'incident.updated' as const, after: { ...state, followUpId, updatedAt: now } }
}

/** Whether this is a public comment by the caller on an incident that has ended. */
export function isAfterClosure(comment: IncidentComment, state: IncidentState): boolean {
  const isEnded = state.status === 'closed' || state.status === 'canceled'
  return isEnded && comment.visibility === 'public' && isCallerComment(comment, state)
}

/** Input for the follow-up of an ended incident: the same content, without assignee and decisions. */
export function toFollowUpInput({
  title,
  description,
  severity,
  impact,
  urgency,
  ...ended
}: IncidentState): NewIncident {
  const { assignmentGroup, channel, category, ciId, callerId, tags, watcherIds, problemId } = ended
  const same = { title, description, severity, impact, urgency }
  return { ...same, assignmentGroup, channel, category, ciId, callerId, tags, watcherIds, problemId }
}
