import { ChangeState } from '@opsplane/contracts'
import {
  defineDataset,
  duration,
  durationBetween,
  flag,
  instant,
  measure,
  percentiles,
  text,
} from './dataset.js'

const Reported = ChangeState.pick({
  ...{ id: true, number: true, title: true, type: true, status: true, risk: true, impact: true },
  ...{ assigneeId: true, assignmentGroup: true, requesterId: true, outcome: true, onHold: true },
  ...{ plannedStart: true, plannedEnd: true, actualStart: true, actualEnd: true, createdAt: true },
})

const isOpen = "status not in ('closed', 'canceled', 'rolled_back')"
const hasOutcome = 'outcome is not null'

export const changes = defineDataset({
  name: 'changes',
  label: 'Changes',
  description: 'One fact for each change, in its current state.',
  permission: 'itsm:read',
  columns: {
    number: { label: 'Number', type: 'text' },
    title: { label: 'Title', type: 'text' },
    type: text('Type'),
    status: text('Status'),
    risk: text('Risk'),
    impact: text('Impact'),
    assigneeId: text('Assignee'),
    assignmentGroup: text('Team'),
    requesterId: text('Requester'),
    outcome: text('Outcome'),
    onHold: flag('On hold'),
    plannedStart: instant('Planned start'),
    plannedEnd: instant('Planned end'),
    actualStart: instant('Actual start'),
    actualEnd: instant('Actual end'),
    implementationMs: duration('Time to implement'),
  },
  measures: {
    changes: measure.count('Changes', 'Number of changes.'),
    open: measure.count('Open', 'Changes that have not ended.', isOpen),
    implemented: measure.count('Implemented', 'Changes with an outcome.', hasOutcome),
    success: measure.share(
      'Success',
      'Of those with an outcome, the successful ones.',
      "outcome = 'successful'",
      hasOutcome,
    ),
    emergencies: measure.share('Emergencies', 'Emergency changes.', "type = 'emergency'"),
    ...percentiles('implementationMs', 'Time to implement'),
    requesters: measure.distinct('Requesters', 'Number of different requesters.', 'requesterId'),
  },
  timeFields: ['createdAt', 'plannedStart', 'actualStart', 'actualEnd'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['type', 'status'] },
    { dimensions: ['outcome'] },
    { dimensions: ['risk'] },
    { dimensions: ['assignmentGroup'] },
  ],
  toFact({ resource, data }) {
    if (resource.type !== 'change' || data.after === null) return undefined
    const { id, createdAt, ...state } = Reported.parse(data.after)
    const implementationMs = durationBetween(state.actualStart, state.actualEnd)
    return { id, createdAt, values: { ...state, implementationMs } }
  },
})
