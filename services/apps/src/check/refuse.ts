import { type AppProblem, type ErrorDetail, invalidField } from '@opsplane/contracts'
import { validationFailed } from '@opsplane/http'

/** Throws `validation_failed` with every problem and its path in the body. */
export function refuseProblems(problems: readonly AppProblem[]): void {
  if (problems.length === 0) return
  throw validationFailed(problems.map((problem): ErrorDetail => ({ in: 'body', ...problem })))
}

/** Throws `validation_failed` if the app already has the maximum number of these parts. */
export function refuseTooMany(present: number, maxCount: number, label: string): void {
  if (present >= maxCount) throw invalidField('', 'too_many', `An app has at most ${maxCount} ${label}.`)
}
