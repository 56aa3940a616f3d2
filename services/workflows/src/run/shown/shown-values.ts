import type { JsonValue, RunDetail, RunError, RunStep, RunValue } from '@opsplane/contracts'
import { createRedaction, maskValue, type Redact, secretsIn } from '@opsplane/runtime'
import type { AwaitedInput } from '../../engine/tasks.js'

/** Masks the values of a run when it is shown: as for executions, fields named like secrets are hidden. */
export interface ShownValues {
  value(value: JsonValue): JsonValue
  step(step: RunStep): RunStep
  runError(error: RunError): RunError
  awaiting(awaiting: AwaitedInput): AwaitedInput
  detail(detail: RunDetail): RunDetail
}

/**
 * `begun`: the input and the event of the run. Their secrets are masked everywhere in the run, and so are those
 * received with the results of steps.
 */
export function createShownValues(begun: readonly JsonValue[], secrets: Iterable<string>): ShownValues {
  const redact: Redact = createRedaction([...begun.flatMap(secretsIn), ...secrets])
  const value = (unmasked: JsonValue) => maskValue(unmasked, redact)
  const runValue = (unmasked: RunValue): RunValue => ({ ...unmasked, value: value(unmasked.value) })
  const runError = <Failure extends Pick<RunError, 'message' | 'details'>>(unmasked: Failure): Failure => ({
    ...unmasked,
    message: redact(unmasked.message),
    ...(unmasked.details !== undefined && { details: value(unmasked.details) }),
  })
  const error = (unmasked: RunStep['error']) => unmasked && runError(unmasked)
  const step = (unmasked: RunStep): RunStep => ({
    ...unmasked,
    ...{ input: runValue(unmasked.input), output: runValue(unmasked.output), error: error(unmasked.error) },
    attempts: unmasked.attempts.map((attempt) => ({ ...attempt, error: runError(attempt.error) })),
    waiting: unmasked.waiting?.approval
      ? { ...unmasked.waiting, approval: shownApproval(unmasked.waiting.approval) }
      : unmasked.waiting,
  })
  const shownApproval = (approval: NonNullable<NonNullable<RunStep['waiting']>['approval']>) => ({
    ...approval,
    ...{ title: redact(approval.title), message: redact(approval.message), data: value(approval.data) },
  })
  const awaiting = (unmasked: AwaitedInput): AwaitedInput => {
    const { waiting } = unmasked
    if (waiting.for !== 'approval') return unmasked
    const approval = { ...waiting.approval, title: redact(waiting.approval.title) }
    return { ...unmasked, waiting: { ...waiting, approval } }
  }
  const detail = (run: RunDetail): RunDetail => ({
    ...run,
    ...{ input: runValue(run.input), event: runValue(run.event), output: runValue(run.output) },
    error: run.error && runError(run.error),
    steps: run.steps.map(step),
  })
  return { value, step, runError, awaiting, detail }
}
