import type { ExpressionFailure } from './error-codes.js'
import { PoolError, type PoolFailure } from './pool/pool.js'

/** Why an expression has no value, and where it stands. */
export interface ExpressionError extends ExpressionFailure {
  /** JSON pointer inside the template, of the string the expression stands in. */
  path?: string
  expression?: string
}

export type Evaluated = { ok: true; value: unknown } | { ok: false; error: ExpressionError }

const failures: Record<PoolFailure, ExpressionFailure> = {
  deadline: { code: 'expression_timeout', message: 'takes too long' },
  memory: { code: 'expression_memory', message: 'takes too much memory' },
  too_large: { code: 'expression_too_large', message: 'makes a value that is too large' },
  crashed: { code: 'expression_error', message: 'ends the process that evaluates it' },
  died: { code: 'expression_unavailable', message: 'could not be evaluated: its process ended' },
  overloaded: {
    code: 'expression_overloaded',
    message: 'waited too long: too many expressions are evaluated',
  },
  unavailable: { code: 'expression_unavailable', message: 'cannot be evaluated now' },
}

/** Why none of the expressions of a request has a value. */
export interface RequestFailure extends ExpressionFailure {
  /** The expression at which it ended. */
  cause?: string | undefined
}

/** What a request that got no answer means for its expressions; whatever else was thrown goes on. */
export function toRequestFailure(thrown: unknown, expressions: readonly string[]): RequestFailure {
  if (!(thrown instanceof PoolError)) throw thrown
  return { ...failures[thrown.failure], cause: expressions[thrown.done] }
}

/** The failure as it is for one of the expressions; undefined where another one is the cause. */
export const ownFailure = (
  { cause, ...failure }: RequestFailure,
  source: string,
): ExpressionFailure | undefined => (cause === undefined || cause === source ? failure : undefined)

export const inputTooLarge: ExpressionFailure = {
  code: 'expression_too_large',
  message: 'has too much data to read',
}

export const secretInValue: ExpressionFailure = {
  code: 'expression_secret',
  message: 'makes a text with a reference to a secret, which only the template itself may hold',
}
