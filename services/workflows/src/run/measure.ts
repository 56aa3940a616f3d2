import { type EffectStep, effectStepTypes, RunStatus } from '@opsplane/contracts'
import { byKey, type Metrics } from '@opsplane/telemetry'

/** What is measured of runs. */
export interface RunMeasures {
  /** A run has come to a state. */
  moved(status: RunStatus): void
  /** A step with an effect is over, whatever came of it. */
  stepTook(type: EffectStep['type'], seconds: number): void
}

export function measureRuns(metrics: Metrics): RunMeasures {
  const moved = byKey(
    (status: RunStatus) => metrics.counter('opsplane_run_transitions_total', { status }),
    RunStatus.options,
  )
  const took = byKey(
    (type: EffectStep['type']) => metrics.histogram('opsplane_run_step_duration_seconds', { type }),
    effectStepTypes,
  )
  return {
    moved: (status) => moved(status)(),
    stepTook: (type, seconds) => took(type)(seconds),
  }
}
