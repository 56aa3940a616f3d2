import jsonata from 'jsonata'
import { registerExactFunctions } from '../exact/functions.js'
import { isOverdue } from './stopwatch.js'

/** JSONata's own guardrails; the parent's deadline and the heap limit apply where these do not. */
const guardrails = {
  /**
   * JSONata compares this limit with the elapsed milliseconds at every step: any value below 1 stops it, otherwise it
   * continues.
   */
  get timeout() {
    return isOverdue() ? 0.5 : Number.MAX_SAFE_INTEGER
  },
  /** Maximum nesting of evaluations. */
  stack: 3_000,
  /** Maximum number of items in a sequence. */
  sequence: 1_000_000,
}

const maxCompiled = 1_000
const maxCompiledCharacters = 2_000_000

const compiled = new Map<string, jsonata.Expression>()
let characters = 0

/** Compiles an expression, or returns it from a cache of recently used ones. Throws JSONata's errors. */
export function compile(source: string): jsonata.Expression {
  const known = compiled.get(source)
  if (known) {
    compiled.delete(source)
    compiled.set(source, known)
    return known
  }
  const expression = jsonata(source, guardrails)
  expression.registerFunction('eval', refuseEval)
  registerExactFunctions(expression)
  compiled.set(source, expression)
  characters += source.length
  for (const oldest of compiled.keys()) {
    if (compiled.size <= maxCompiled && characters <= maxCompiledCharacters) break
    compiled.delete(oldest)
    characters -= oldest.length
  }
  return expression
}

function refuseEval(): never {
  throw Object.assign(new Error('$eval is not available'), { code: 'eval_disabled', token: 'eval' })
}
