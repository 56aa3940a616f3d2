export { createCodeRunner } from './code/runner.js'
export {
  type CodeOutcome,
  type CodeRequest,
  type CodeRunner,
  HostError,
  type HostFunctions,
  type Json,
} from './code/types.js'

export { createExpressions, type Expressions } from './expressions.js'

export { measureChildren } from './measure-children.js'

export type { Evaluated, ExpressionError } from './results.js'

export { isPlain, parseTemplate, type Template, type TemplateProblem } from './template/template.js'
