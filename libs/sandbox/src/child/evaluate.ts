import type { ChildRequest } from '../child-request.js'
import { maxDepth, measureValue } from '../limits.js'
import { valueError } from '../value-error.js'
import { compile } from './compile.js'
import { childError, timedOut } from './errors.js'
import { beginRequest, isOverdue } from './stopwatch.js'

type EvaluateRequest = Extract<ChildRequest, { op: 'evaluate' }>

/**
 * Evaluates expressions in order; returns the text of the answer, with a value or an error for each. Calls `onDone` after
 * each expression but the last.
 */
export async function evaluate(
  { expressions, ...request }: EvaluateRequest,
  onDone: () => void,
): Promise<string> {
  beginRequest(request.timeoutMs)
  let left = request.maxOutputBytes
  const results: string[] = []
  for (const source of expressions) {
    const result = await resultOf(source, request, left)
    left -= result.length
    results.push(result)
    if (results.length < expressions.length) onDone()
  }
  return `{"results":[${results.join(',')}]}`
}

async function resultOf(
  source: string,
  { input, bindings }: Pick<EvaluateRequest, 'input' | 'bindings'>,
  maxBytes: number,
): Promise<string> {
  if (isOverdue()) return JSON.stringify({ error: timedOut })
  try {
    const value: unknown = await compile(source).evaluate(input, bindings)
    const { problem } = measureValue(value, { bytes: maxBytes, depth: maxDepth })
    const text = problem ? undefined : JSON.stringify({ value })
    if (text !== undefined && Buffer.byteLength(text) <= maxBytes + '{"value":}'.length) return text
    return JSON.stringify({ error: valueError(problem ?? 'too_large') })
  } catch (thrown) {
    return JSON.stringify({ error: childError(thrown) })
  }
}
