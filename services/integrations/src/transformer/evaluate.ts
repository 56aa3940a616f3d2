import { ApiError, type Evaluation, type EvaluationResult, tenantKey } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ExpressionError, Expressions } from '@opsplane/sandbox'

/** Throws `validation_failed` for a faulty expression, `service_unavailable` for failures it did not cause. */
export async function evaluate(
  expressions: Expressions,
  { expression, input = {}, bindings }: Evaluation,
  { tenant, signal }: RequestMeta,
): Promise<EvaluationResult> {
  const begun = performance.now()
  const evaluated = await expressions.evaluateExpression({
    tenant: tenantKey(tenant),
    ...{ expression, input, bindings, signal: signal() },
  })
  if (!evaluated.ok) throw apiError(evaluated.error)
  return { result: evaluated.value, durationMs: Math.round((performance.now() - begun) * 1_000) / 1_000 }
}

function apiError({ code, message, position, token }: ExpressionError): ApiError {
  if (code === 'expression_overloaded' || code === 'expression_unavailable')
    return new ApiError('service_unavailable', `The expression ${message}.`, {
      headers: { 'retry-after': '1' },
    })
  const params = { ...(position !== undefined && { position }), ...(token !== undefined && { token }) }
  return new ApiError('validation_failed', `The expression cannot be evaluated: ${message}`, {
    details: [{ in: 'body', path: '/expression', code, message, params }],
  })
}
