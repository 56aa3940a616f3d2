import { type EffectStep, effectStepTypes, RunStatus } from '@opsplane/contracts'
import { byKey, type Metrics } from '@opsplane/telemetry'

export interface RunMetrics {
  /** Counts a change of status. */
  moved(status: RunStatus): void
  /** Records the duration of a finished step with an effect, whatever its outcome. */
  recordStepDuration(type: EffectStep['type'], seconds: number): void
}

export function createRunMetrics(metrics: Metrics): RunMetrics {
  const countTransition = byKey(
    (status: RunStatus) => metrics.counter('opsplane_run_transitions_total', { status }),
    RunStatus.options,
  )
  const stepDuration = byKey(
    (type: EffectStep['type']) => metrics.histogram('opsplane_run_step_duration_seconds', { type }),
    effectStepTypes,
  )
  return {
    moved: (status) => countTransition(status)(),
    recordStepDuration: (type, seconds) => stepDuration(type)(seconds),
  }
}
