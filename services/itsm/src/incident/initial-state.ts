import { type IncidentState, levelsBySeverity } from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'
import { alertFields } from './alerts.js'
import type { CreateIncident } from './commands.js'

/** Returns a new incident: open, unassigned, with no history. */
export function buildInitialIncident({
  id,
  number,
  by,
  now,
  settings,
  input,
  followsUpOn = null,
}: CreateIncident): IncidentState {
  const usual = levelsBySeverity[input.severity]
  const { impact = usual.impact, urgency = usual.urgency } = input
  return {
    id,
    number,
    title: input.title,
    description: input.description ?? null,
    status: 'open',
    severity: input.severity,
    assigneeId: null,
    assignmentGroup: input.assignmentGroup ?? null,
    category: input.category ?? null,
    ciId: input.ciId ?? null,
    callerId: input.callerId ?? null,
    tags: input.tags,
    holdReason: null,
    resolutionCode: null,
    resolutionNotes: null,
    resolvedAt: null,
    closedAt: null,
    reopenCount: 0,
    escalationLevel: 0,
    commentCount: 0,
    impact,
    urgency,
    priority: findPriority(settings.priorityMatrix, { impact, urgency }),
    priorityOverride: null,
    parentId: input.parentId ?? null,
    childCount: 0,
    followsParent: false,
    problemId: input.problemId ?? null,
    changeId: input.changeId ?? null,
    causedByChangeId: input.causedByChangeId ?? null,
    watcherIds: input.watcherIds,
    majorState: 'none',
    majorProposal: null,
    postIncidentReview: null,
    ...alertFields(input.dedupKey, now),
    channel: input.channel ?? (input.dedupKey === undefined ? null : 'monitoring'),
    followsUpOn,
    followUpId: null,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
  }
}
