import { IncidentState } from '@opsplane/contracts'
import { defineDataset, duration, durationBetween, instant, number, percentiles, text } from './dataset.js'

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
  description: 'One fact for each incident, as it stands.',
  permission: 'itsm:read',
  idPrefix: 'inc_',
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
    incidents: { label: 'Incidents', description: 'How many there are.', kind: 'count' },
    open: {
      label: 'Open',
      description: 'Those not resolved, closed or canceled.',
      kind: 'count',
      where: isOpen,
    },
    resolved: { label: 'Resolved', description: 'Those resolved by now.', kind: 'count', where: isResolved },
    unassigned: {
      ...{ label: 'Unassigned', description: 'Open ones without an assignee.' },
      ...{ kind: 'count', where: `${isOpen} and assignee_id is null` },
    },
    major: {
      ...{ label: 'Major', description: 'Accepted as major incidents.' },
      ...{ kind: 'count', where: "major_state = 'accepted'" },
    },
    reopened: {
      ...{ label: 'Reopened', description: 'Resolved ones that were reopened once or more.' },
      ...{ kind: 'share', format: 'percent', where: 'reopen_count > 0' },
    },
    escalations: {
      ...{ label: 'Escalations', description: 'How often they were escalated.' },
      ...{ kind: 'sum', of: 'escalationLevel' },
    },
    average_time_to_resolve: {
      ...{ label: 'Time to resolve, mean', description: 'From opening to the last resolution.' },
      ...{ kind: 'average', of: 'timeToResolveMs', format: 'duration_ms' },
    },
    ...percentiles('timeToResolveMs', 'Time to resolve'),
    callers: {
      label: 'Callers',
      description: 'Different people who called.',
      kind: 'distinct',
      of: 'callerId',
    },
    assignees: {
      ...{ label: 'Assignees', description: 'Different people who work on them.' },
      ...{ kind: 'distinct', of: 'assigneeId' },
    },
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
    // A breach is reported in a stream of its own, whose versions are not those of the incident.
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
