import { RunState } from '@opsplane/contracts'
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

const Reported = RunState.pick({
  ...{ id: true, workflowId: true, workflowName: true, status: true, triggerType: true, attempt: true },
  ...{ error: true, queuedAt: true, startedAt: true, endedAt: true },
})

const hasEnded = "status in ('completed', 'failed', 'cancelled', 'dead')"
const hasFailed = "status in ('failed', 'dead')"

export const runs = defineDataset({
  name: 'runs',
  label: 'Workflow runs',
  description: 'One fact for each started run of a workflow, in its current state.',
  permission: 'runs:read',
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
    runs: measure.count('Runs', 'Number of runs.'),
    going: measure.count('Going on', 'Runs that have not ended.', `not ${hasEnded}`),
    failed: measure.count('Failed', 'Runs with the status failed or dead.', hasFailed),
    success: measure.share(
      'Success',
      'Of those that have ended, the completed ones.',
      "status = 'completed'",
      hasEnded,
    ),
    average_duration: measure.averageDuration('Duration, mean', 'From start to end.', 'durationMs'),
    ...percentiles('durationMs', 'Duration'),
    workflows: measure.distinct('Workflows', 'Number of different workflows.', 'workflowId'),
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
