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
  const value = (given: JsonValue) => maskValue(given, redact)
  const runValue = (given: RunValue): RunValue => ({ ...given, value: value(given.value) })
  const runError = <Failure extends Pick<RunError, 'message' | 'details'>>(given: Failure): Failure => ({
    ...given,
    message: redact(given.message),
    ...(given.details !== undefined && { details: value(given.details) }),
  })
  const error = (given: RunStep['error']) => given && runError(given)
  const step = (given: RunStep): RunStep => ({
    ...given,
    ...{ input: runValue(given.input), output: runValue(given.output), error: error(given.error) },
    attempts: given.attempts.map((attempt) => ({ ...attempt, error: runError(attempt.error) })),
    waiting: given.waiting?.approval
      ? { ...given.waiting, approval: shownApproval(given.waiting.approval) }
      : given.waiting,
  })
  const shownApproval = (approval: NonNullable<NonNullable<RunStep['waiting']>['approval']>) => ({
    ...approval,
    ...{ title: redact(approval.title), message: redact(approval.message), data: value(approval.data) },
  })
  const awaiting = (given: AwaitedInput): AwaitedInput => {
    const { waiting } = given
    if (waiting.for !== 'approval') return given
    const approval = { ...waiting.approval, title: redact(waiting.approval.title) }
    return { ...given, waiting: { ...waiting, approval } }
  }
  const detail = (given: RunDetail): RunDetail => ({
    ...given,
    ...{ input: runValue(given.input), event: runValue(given.event), output: runValue(given.output) },
    error: given.error && runError(given.error),
    steps: given.steps.map(step),
  })
  return { value, step, runError, awaiting, detail }
}
