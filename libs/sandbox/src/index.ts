export { type CodeRunnerOptions, createCodeRunner } from './code/runner.js'
export * from './code/types.js'
export { type ExpressionErrorCode, expressionErrorCodes } from './error-codes.js'
export {
  type CheckedTemplate,
  createExpressions,
  type EvaluateExpressionRequest,
  type EvaluateRequest,
  type Expressions,
  type ExpressionsOptions,
} from './expressions.js'
export { maxDepth } from './limits.js'
export { measureChildren } from './measure-children.js'
export { PoolError, type PoolFailure } from './pool/pool.js'
export type { Evaluated, ExpressionError } from './results.js'
export { maxExpressionLength } from './template/scan.js'
export {
  isPlain,
  maxExpressions,
  parseTemplate,
  type Template,
  type TemplateProblem,
} from './template/template.js'
