import type { ExpressionFailure } from './error-codes.js'
import type { ValueProblem } from './limits.js'

const problems: Record<ValueProblem, ExpressionFailure> = {
  too_large: { code: 'expression_too_large', message: 'makes a value that is too large' },
  too_deep: { code: 'expression_too_deep', message: 'makes a value that is nested too deep' },
  function: { code: 'expression_error', message: 'makes a function, which is no JSON value' },
  not_finite: { code: 'expression_error', message: 'makes a number that is too large, or none' },
  forbidden_key: { code: 'expression_error', message: 'makes an object with the key __proto__' },
}

/** The failure of an expression whose value cannot be passed on. */
export const valueError = (problem: ValueProblem): ExpressionFailure => problems[problem]
