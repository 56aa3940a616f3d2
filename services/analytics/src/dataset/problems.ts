import { ProblemState } from '@opsplane/contracts'
import {
  defineDataset,
  duration,
  durationBetween,
  flag,
  instant,
  measure,
  number,
  percentiles,
  text,
} from './dataset.js'

const Reported = ProblemState.pick({
  ...{ id: true, number: true, title: true, status: true, impact: true, priority: true, assigneeId: true },
  ...{ assignmentGroup: true, category: true, knownError: true, resolution: true, resolvedAt: true },
  ...{ closedAt: true, reopenCount: true, createdAt: true },
})

export const problems = defineDataset({
  name: 'problems',
  label: 'Problems',
  description: 'One fact for each problem, in its current state.',
  permission: 'itsm:read',
  columns: {
    number: { label: 'Number', type: 'text' },
    title: { label: 'Title', type: 'text' },
    status: text('Status'),
    impact: text('Impact'),
    priority: text('Priority'),
    assigneeId: text('Assignee'),
    assignmentGroup: text('Team'),
    category: text('Category'),
    knownError: flag('Known error'),
    resolution: text('Resolution'),
    resolvedAt: instant('Resolved'),
    closedAt: instant('Closed'),
    reopenCount: number('Times reopened'),
    timeToResolveMs: duration('Time to resolve'),
  },
  measures: {
    problems: measure.count('Problems', 'Number of problems.'),
    open: measure.count('Open', 'Problems without a resolution.', 'resolved_at is null'),
    known_errors: measure.count('Known errors', 'Problems with a known cause.', 'known_error'),
    ...percentiles('timeToResolveMs', 'Time to resolve'),
  },
  timeFields: ['createdAt', 'resolvedAt', 'closedAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['status'] },
    { dimensions: ['assignmentGroup'] },
  ],
  toFact({ resource, data }) {
    if (resource.type !== 'problem' || data.after === null) return undefined
    const { id, createdAt, ...state } = Reported.parse(data.after)
    return {
      id,
      createdAt,
      values: { ...state, timeToResolveMs: durationBetween(createdAt, state.resolvedAt) },
    }
  },
})
