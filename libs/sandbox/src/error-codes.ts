export const expressionErrorCodes = [
  'expression_error',
  'expression_syntax',
  'expression_unknown',
  'expression_timeout',
  'expression_memory',
  'expression_too_large',
  'expression_too_deep',
  'expression_secret',
  'expression_overloaded',
  'expression_unavailable',
] as const
export type ExpressionErrorCode = (typeof expressionErrorCodes)[number]

/** Why an expression has no value. */
export interface ExpressionFailure {
  code: ExpressionErrorCode
  message: string
  /** Index in the expression. */
  position?: number | undefined
  /** The token that JSONata reports. */
  token?: string | undefined
}
