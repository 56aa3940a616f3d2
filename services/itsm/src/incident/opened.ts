import type { IncidentState } from '@opsplane/contracts'
import type { CreateIncident } from './commands.js'

/** A new incident: open, unassigned, with no history. */
export function opened({ id, number, by, now, input }: CreateIncident): IncidentState {
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
    impact: 'medium',
    urgency: 'medium',
    priority: 'P3',
    priorityOverride: null,
    parentId: null,
    childCount: 0,
    problemId: null,
    changeId: null,
    causedByChangeId: null,
    watcherIds: [],
    majorState: 'none',
    dedupKey: null,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
  }
}
