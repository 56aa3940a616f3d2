import { ChangeState } from '@opsplane/contracts'
import { defineDataset, duration, durationBetween, flag, instant, percentiles, text } from './dataset.js'

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
  description: 'One fact for each change, as it stands.',
  permission: 'itsm:read',
  idPrefix: 'chg_',
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
    changes: { label: 'Changes', description: 'How many there are.', kind: 'count' },
    open: { label: 'Open', description: 'Those that have not ended.', kind: 'count', where: isOpen },
    implemented: {
      label: 'Implemented',
      description: 'Those with an outcome.',
      kind: 'count',
      where: hasOutcome,
    },
    success: {
      ...{ label: 'Success', description: 'Of those with an outcome, the successful ones.' },
      ...{ kind: 'share', format: 'percent', where: "outcome = 'successful'", of: hasOutcome },
    },
    emergencies: {
      ...{ label: 'Emergencies', description: 'Emergency changes.' },
      ...{ kind: 'share', format: 'percent', where: "type = 'emergency'" },
    },
    ...percentiles('implementationMs', 'Time to implement'),
    requesters: {
      ...{ label: 'Requesters', description: 'Different people who asked for them.' },
      ...{ kind: 'distinct', of: 'requesterId' },
    },
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
