import { RE2JS, RE2JSException } from 're2js'
import type { Budget } from './budget.js'
import { PatternRefused, toRe2 } from './pattern-syntax.js'

/** Longer expressions are rejected, which bounds the cost of reading them. In characters. */
const maxLength = 500

/** A regular expression that takes at most about `size` comparisons per character of the text. */
export interface Pattern {
  size: number
  /** Whether the expression matches anywhere in the text: patterns of JSON Schema are not anchored. */
  test(text: string): boolean
}

/** Compiles a pattern, or returns its problem. */
export function readPattern(source: unknown, budget: Budget): Pattern | string {
  if (typeof source !== 'string' || source.length > maxLength)
    return `must be a regular expression of at most ${maxLength} characters`
  try {
    return compilePattern(source, budget)
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    return `must be a regular expression that is matched in linear time: it ${reason}`
  }
}

/**
 * Compiles the expression to an automaton, which does not backtrack. Throws PatternRefused, SyntaxError or
 * RE2JSException if that is impossible.
 */
export function compilePattern(source: string, budget: Budget): Pattern {
  // Also compiled by the JavaScript engine, so that no pattern is accepted that other validators interpret differently.
  new RegExp(source, 'u')
  const { written, steps } = toRe2(source)
  budget.spend(20 + 2 * steps)
  const automaton = RE2JS.compile(written)
  return { size: automaton.programSize(), test: (text) => automaton.test(text) }
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof PatternRefused) return error.message
  if (error instanceof SyntaxError) return 'is not one of ECMA-262 with the flag u'
  return error instanceof RE2JSException ? `is not one that RE2 takes (${error.message})` : undefined
}
