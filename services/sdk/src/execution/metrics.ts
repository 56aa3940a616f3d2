import { byKey, type Metrics } from '@opsplane/telemetry'
import type { Outcome } from './model.js'

const outcomes: readonly Outcome['status'][] = ['completed', 'failed', 'timeout', 'cancelled']

/** Counts ended executions by status and records their duration. */
export function createExecutionMetrics(
  metrics: Metrics,
): (outcome: Pick<Outcome, 'status' | 'durationMs'>) => void {
  const countEnded = byKey(
    (status: Outcome['status']) => metrics.counter('opsplane_executions_total', { status }),
    outcomes,
  )
  const recordDuration = metrics.histogram('opsplane_execution_duration_seconds', {})
  return ({ status, durationMs }) => {
    countEnded(status)()
    recordDuration(durationMs / 1_000)
  }
}
