import { registerExactFunctions } from '@opsplane/sandbox/exact'
import jsonata from 'jsonata'
import type { ExpressionScope } from './scope.js'

/** Limits an endless expression, so that it does not block the tab (`timeout` in milliseconds). */
const guardrails = { timeout: 1_000, stack: 500, sequence: 100_000 }
const maxCompiled = 500

const compiled = new Map<string, jsonata.Expression>()

/** Rejects with JSONata's errors. */
export async function evaluateJsonata(source: string, scope: ExpressionScope): Promise<unknown> {
  const value: unknown = await compile(source).evaluate(scope)
  // Removes the extra properties that JSONata adds to its result arrays.
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
}

function compile(source: string): jsonata.Expression {
  const known = compiled.get(source)
  if (known) return known
  const expression = jsonata(source, guardrails)
  expression.registerFunction('eval', () => {
    throw new Error('$eval is not available')
  })
  registerExactFunctions(expression)
  if (compiled.size >= maxCompiled) compiled.clear()
  compiled.set(source, expression)
  return expression
}
