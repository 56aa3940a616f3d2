import { Evaluation, EvaluationResult } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Expressions } from '@opsplane/sandbox'
import { evaluate } from './evaluate.js'

export function transformerRoutes(expressions: Expressions): Route[] {
  return [
    defineRoute({
      operationId: 'evaluateExpression',
      method: 'post',
      path: '/transformer/evaluate',
      summary: 'Evaluate a JSONata expression',
      description:
        'Evaluates the expression against the input in the request, without access to anything else. An expression ' +
        'that cannot be evaluated returns 422; its detail contains a code (such as `expression_syntax`, ' +
        '`expression_error`, `expression_timeout`) and, in its `params`, the `position` in the expression.',
      tag: 'Transformer',
      scope: 'transformer:evaluate',
      body: Evaluation,
      response: EvaluationResult,
      idempotency: 'none',
      handler: ({ body, meta }) => evaluate(expressions, body, meta),
    }),
  ]
}
