import { ExecutionChanges, executionChangesPath } from '@opsplane/contracts'
import {
  defineDataset,
  defineFeed,
  duration,
  flag,
  instant,
  measure,
  number,
  percentiles,
  text,
} from './dataset.js'

const hasFailed = "status in ('failed', 'timeout')"

export const executions = defineDataset({
  name: 'executions',
  label: 'Executions',
  description: 'One fact for each ended execution of an artifact.',
  permission: 'executions:read',
  columns: {
    artifactSlug: text('Artifact'),
    artifactVersion: number('Version'),
    artifactType: text('Kind of artifact'),
    triggerType: text('Trigger'),
    status: text('Status'),
    isReplay: flag('Replay'),
    errorCode: text('Error'),
    completedAt: instant('Completed'),
    durationMs: duration('Duration'),
    memoryPeakMb: number('Memory, MB'),
  },
  measures: {
    executions: measure.count('Executions', 'Number of executions that have ended.'),
    failures: measure.count('Failures', 'Executions that failed or timed out.', hasFailed),
    timeouts: measure.count('Timeouts', 'Executions that exceeded their time limit.', "status = 'timeout'"),
    success: measure.share(
      'Success',
      'Of those that were not cancelled, the completed ones.',
      "status = 'completed'",
      "status <> 'cancelled'",
    ),
    ...percentiles('durationMs', 'Duration'),
    artifacts: measure.distinct('Artifacts', 'Number of different artifacts.', 'artifactSlug'),
  },
  timeFields: ['createdAt', 'completedAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['status'] },
    { dimensions: ['artifactSlug'], sketches: true },
    { dimensions: ['errorCode'] },
    { dimensions: ['triggerType'] },
  ],
  feed: defineFeed({
    service: 'sdk',
    path: executionChangesPath,
    page: ExecutionChanges,
    toFact: ({ id, startedAt, workspaceId: _, environment: __, ...values }) => ({
      ...{ id, createdAt: startedAt, happenedAt: values.completedAt, values },
    }),
  }),
})
