import type { ExpressionFailure } from './error-codes.js'
import { PoolError, type PoolFailure } from './pool/pool.js'

/** Why an expression has no value, and its position. */
export interface ExpressionError extends ExpressionFailure {
  /** JSON pointer within the template to the string that contains the expression. */
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
  /** The expression at which the request ended. */
  cause?: string | undefined
}

/** Converts the failure of a request to a failure of its expressions; rethrows all other errors. */
export function toRequestFailure(thrown: unknown, expressions: readonly string[]): RequestFailure {
  if (!(thrown instanceof PoolError)) throw thrown
  return { ...failures[thrown.failure], cause: expressions[thrown.done] }
}

/** The failure as it applies to one expression; `undefined` if another expression is the cause. */
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
