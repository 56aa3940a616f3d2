import { z } from 'zod'
import { defineDataset, duration, number, text } from './dataset.js'

const Told = z.object({
  id: z.string(),
  artifact_slug: z.string(),
  artifact_version: z.int(),
  trigger_type: z.string(),
  status: z.string(),
  error: z.object({ code: z.string() }).nullable(),
  duration_ms: z.number().nullable(),
  memory_peak_mb: z.number().nullable(),
  started_at: z.iso.datetime(),
})

export const executions = defineDataset({
  name: 'executions',
  label: 'Failed executions',
  description: 'One fact for each execution of an artifact that has failed or timed out.',
  permission: 'executions:read',
  idPrefix: 'exec_',
  columns: {
    artifactSlug: text('Artifact'),
    artifactVersion: number('Version'),
    triggerType: text('Trigger'),
    status: text('Status'),
    errorCode: text('Error'),
    durationMs: duration('Duration'),
    memoryPeakMb: number('Memory, MB'),
  },
  measures: {
    failures: { label: 'Failures', description: 'Executions that failed or timed out.', kind: 'count' },
    timeouts: {
      label: 'Timeouts',
      description: 'Those that took too long.',
      kind: 'count',
      where: "status = 'timeout'",
    },
    artifacts: { label: 'Artifacts', description: 'Different ones.', kind: 'distinct', of: 'artifactSlug' },
  },
  timeFields: ['createdAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['artifactSlug'] },
    { dimensions: ['errorCode'] },
  ],
  factOf({ type, data }) {
    if (!type.startsWith('sdk.execution.') || data.after === null) return undefined
    const told = Told.parse(data.after)
    return {
      id: told.id,
      createdAt: told.started_at,
      values: {
        artifactSlug: told.artifact_slug,
        artifactVersion: told.artifact_version,
        triggerType: told.trigger_type,
        status: told.status,
        errorCode: told.error?.code ?? null,
        durationMs: told.duration_ms === null ? null : Math.round(told.duration_ms),
        memoryPeakMb: told.memory_peak_mb === null ? null : Math.round(told.memory_peak_mb),
      },
    }
  },
})
