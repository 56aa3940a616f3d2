import { IncidentState } from '@opsplane/contracts'
import {
  defineDataset,
  duration,
  durationBetween,
  instant,
  measure,
  number,
  percentiles,
  text,
} from './dataset.js'

const Reported = IncidentState.pick({
  ...{ id: true, number: true, title: true, status: true, severity: true, priority: true, impact: true },
  ...{ urgency: true, assigneeId: true, assignmentGroup: true, category: true, ciId: true, callerId: true },
  ...{ channel: true, majorState: true, resolutionCode: true, resolvedAt: true, closedAt: true },
  ...{ reopenCount: true, escalationLevel: true, commentCount: true, createdAt: true },
})

const isOpen = "status in ('open', 'in_progress', 'on_hold')"
const isResolved = 'resolved_at is not null'

export const incidents = defineDataset({
  name: 'incidents',
  label: 'Incidents',
  description: 'One fact for each incident, in its current state.',
  permission: 'itsm:read',
  columns: {
    number: { label: 'Number', type: 'text' },
    title: { label: 'Title', type: 'text' },
    status: text('Status'),
    severity: text('Severity'),
    priority: text('Priority'),
    impact: text('Impact'),
    urgency: text('Urgency'),
    assigneeId: text('Assignee'),
    assignmentGroup: text('Team'),
    category: text('Category'),
    ciId: text('Configuration item'),
    callerId: text('Caller'),
    channel: text('Channel'),
    majorState: text('Major incident'),
    resolutionCode: text('Resolution'),
    resolvedAt: instant('Resolved'),
    closedAt: instant('Closed'),
    timeToResolveMs: duration('Time to resolve'),
    reopenCount: number('Times reopened'),
    escalationLevel: number('Times escalated'),
    commentCount: number('Comments'),
  },
  measures: {
    incidents: measure.count('Incidents', 'Number of incidents.'),
    open: measure.count('Open', 'Incidents that are not resolved, closed or canceled.', isOpen),
    resolved: measure.count('Resolved', 'Incidents resolved so far.', isResolved),
    unassigned: measure.count(
      'Unassigned',
      'Open ones without an assignee.',
      `${isOpen} and assignee_id is null`,
    ),
    major: measure.count('Major', 'Accepted as major incidents.', "major_state = 'accepted'"),
    reopened: measure.share(
      'Reopened',
      'Resolved incidents that were reopened at least once.',
      'reopen_count > 0',
    ),
    escalations: measure.sum('Escalations', 'Number of escalations.', 'escalationLevel'),
    average_time_to_resolve: measure.averageDuration(
      'Time to resolve, mean',
      'From opening to the last resolution.',
      'timeToResolveMs',
    ),
    ...percentiles('timeToResolveMs', 'Time to resolve'),
    callers: measure.distinct('Callers', 'Number of different callers.', 'callerId'),
    assignees: measure.distinct('Assignees', 'Number of different assignees.', 'assigneeId'),
  },
  timeFields: ['createdAt', 'resolvedAt', 'closedAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['severity', 'status'] },
    { dimensions: ['severity'], sketches: true },
    { dimensions: ['priority'], sketches: true },
    { dimensions: ['assignmentGroup'], sketches: true },
    { dimensions: ['category'] },
    { dimensions: ['channel'] },
  ],
  toFact({ type, resource, data }) {
    // A breach is reported in a separate stream, whose versions are not those of the incident.
    if (resource.type !== 'incident' || type === 'incident.sla_breached' || data.after === null)
      return undefined
    const { id, createdAt, ...state } = Reported.parse(data.after)
    return {
      id,
      createdAt,
      values: { ...state, timeToResolveMs: durationBetween(createdAt, state.resolvedAt) },
    }
  },
})
