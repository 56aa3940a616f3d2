import type { IncidentComment, IncidentState, Instant, NewIncident } from '@opsplane/contracts'
import { isCallerComment } from './caller-comment.js'

/** An ended incident names the one a later comment of its caller has opened. Not an action: it stays as it ended. */
export interface FollowUp {
  kind: 'follow_up'
  followUpId: string
  now: Instant
}

export function followUpEvent({ followUpId, now }: FollowUp, state: IncidentState) {
  return { type: 'incident.updated' as const, after: { ...state, followUpId, updatedAt: now } }
}

/** Whether the caller says it in public after their incident has ended. */
export function isAfterClosure(comment: IncidentComment, state: IncidentState): boolean {
  const ended = state.status === 'closed' || state.status === 'canceled'
  return ended && comment.visibility === 'public' && isCallerComment(comment, state)
}

/** The incident to open after an ended one: the same content, unassigned and without decisions. */
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
