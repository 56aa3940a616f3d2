import { RunState } from '@opsplane/contracts'
import { defineDataset, duration, durationBetween, instant, number, percentiles, text } from './dataset.js'

const Reported = RunState.pick({
  ...{ id: true, workflowId: true, workflowName: true, status: true, triggerType: true, attempt: true },
  ...{ error: true, queuedAt: true, startedAt: true, endedAt: true },
})

const hasEnded = "status in ('completed', 'failed', 'cancelled', 'dead')"
const hasFailed = "status in ('failed', 'dead')"

export const runs = defineDataset({
  name: 'runs',
  label: 'Workflow runs',
  description: 'One fact for each run of a workflow that has begun, as it stands.',
  permission: 'runs:read',
  idPrefix: 'run_',
  columns: {
    workflowId: text('Workflow id'),
    workflowName: text('Workflow'),
    status: text('Status'),
    triggerType: text('Trigger'),
    errorCode: text('Error'),
    attempt: number('Attempt'),
    startedAt: instant('Started'),
    endedAt: instant('Ended'),
    durationMs: duration('Duration'),
    waitMs: duration('Time in the queue'),
  },
  measures: {
    runs: { label: 'Runs', description: 'How many there are.', kind: 'count' },
    going: {
      label: 'Going on',
      description: 'Those that have not ended.',
      kind: 'count',
      where: `not ${hasEnded}`,
    },
    failed: { label: 'Failed', description: 'Failed or dead.', kind: 'count', where: hasFailed },
    success: {
      ...{ label: 'Success', description: 'Of those that have ended, the completed ones.' },
      ...{ kind: 'share', format: 'percent', where: "status = 'completed'", of: hasEnded },
    },
    average_duration: {
      ...{ label: 'Duration, mean', description: 'From start to end.' },
      ...{ kind: 'average', of: 'durationMs', format: 'duration_ms' },
    },
    ...percentiles('durationMs', 'Duration'),
    workflows: { label: 'Workflows', description: 'Different ones.', kind: 'distinct', of: 'workflowId' },
  },
  timeFields: ['createdAt', 'startedAt', 'endedAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['status'] },
    { dimensions: ['workflowName'], sketches: true },
    { dimensions: ['triggerType'] },
  ],
  toFact({ type, data }) {
    if (!type.startsWith('workflow.run_') || data.after === null) return undefined
    const { id, queuedAt, error, ...state } = Reported.parse(data.after)
    const durationMs = durationBetween(state.startedAt, state.endedAt)
    const waitMs = durationBetween(queuedAt, state.startedAt)
    return {
      id,
      createdAt: queuedAt,
      values: { ...state, errorCode: error?.code ?? null, durationMs, waitMs },
    }
  },
})
