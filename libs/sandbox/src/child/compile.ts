import jsonata from 'jsonata'
import { registerExactFunctions } from '../exact/functions.js'
import { isOverdue } from './stopwatch.js'

/** JSONata's own guardrails; the parent's deadline and the heap's limit hold where these do not. */
const guardrails = {
  /** Milliseconds since an expression was begun, compared at every step: time is up, or it is not. */
  get timeout() {
    return isOverdue() ? 0.5 : Number.MAX_SAFE_INTEGER
  },
  /** Evaluations within each other. */
  stack: 3_000,
  /** Items of a sequence. */
  sequence: 1_000_000,
}

const maxCompiled = 1_000
const maxCompiledCharacters = 2_000_000

const compiled = new Map<string, jsonata.Expression>()
let characters = 0

/** Compiles an expression, or takes it from the cache of those used last. Throws JSONata's errors. */
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
