import { ProblemState } from '@opsplane/contracts'
import {
  defineDataset,
  duration,
  durationBetween,
  flag,
  instant,
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
  description: 'One fact for each problem, as it stands.',
  permission: 'itsm:read',
  idPrefix: 'prb_',
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
    problems: { label: 'Problems', description: 'How many there are.', kind: 'count' },
    open: {
      label: 'Open',
      description: 'Without a resolution.',
      kind: 'count',
      where: 'resolved_at is null',
    },
    known_errors: {
      label: 'Known errors',
      description: 'With a cause that is known.',
      kind: 'count',
      where: 'known_error',
    },
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
