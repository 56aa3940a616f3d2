import { RE2JS, RE2JSException } from 're2js'
import type { Budget } from './budget.js'
import { PatternRefused, toRe2 } from './pattern-syntax.js'

/** Longer ones are refused: that bounds what reading them costs. */
const maxLength = 500

/** A regular expression that costs about `size` comparisons for each character it is held against, whatever it says. */
export interface Pattern {
  size: number
  /** Whether it holds anywhere in the text, as patterns of JSON Schema are not anchored. */
  test(text: string): boolean
}

/** The pattern, or what is wrong with it. */
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
 * The expression, to be matched by an automaton instead of trying one way after the other. Throws PatternRefused, SyntaxError or
 * RE2JSException where it cannot be.
 */
export function compilePattern(source: string, budget: Budget): Pattern {
  // Compiled by JavaScript's engine as well, so that no pattern is accepted that has another meaning for other validators.
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
