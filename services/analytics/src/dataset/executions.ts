import { ExecutionChanges, executionChangesPath } from '@opsplane/contracts'
import { defineDataset, defineFeed, duration, flag, instant, number, percentiles, text } from './dataset.js'

const hasFailed = "status in ('failed', 'timeout')"

export const executions = defineDataset({
  name: 'executions',
  label: 'Executions',
  description: 'One fact for each execution of an artifact that has ended.',
  permission: 'executions:read',
  idPrefix: 'exec_',
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
    executions: { label: 'Executions', description: 'How many have ended.', kind: 'count' },
    failures: {
      label: 'Failures',
      description: 'Executions that failed or timed out.',
      kind: 'count',
      where: hasFailed,
    },
    timeouts: {
      label: 'Timeouts',
      description: 'Those that took too long.',
      kind: 'count',
      where: "status = 'timeout'",
    },
    success: {
      ...{ label: 'Success', description: 'Of those that were not cancelled, the completed ones.' },
      ...{ kind: 'share', format: 'percent', where: "status = 'completed'", of: "status <> 'cancelled'" },
    },
    ...percentiles('durationMs', 'Duration'),
    artifacts: { label: 'Artifacts', description: 'Different ones.', kind: 'distinct', of: 'artifactSlug' },
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
