import { RE2JS } from 're2js'
import { inRe2, PatternRefused } from './pattern-syntax.js'

/** Longer ones are refused: that bounds what reading them costs. */
const maxLength = 500

/** A regular expression that costs about `size` comparisons for each character it is held against, whatever it says. */
export interface Pattern {
  size: number
  /** Whether it holds anywhere in the text, as patterns of JSON Schema are not anchored. */
  test(text: string): boolean
}

/** What is wrong with the value of `pattern`, or nothing. */
export function patternProblem(source: unknown): string | undefined {
  if (typeof source !== 'string' || source.length > maxLength)
    return `must be a regular expression of at most ${maxLength} characters`
  try {
    compilePattern(source)
    return undefined
  } catch (error) {
    return `must be a regular expression that is matched in linear time: it ${reasonOf(error)}`
  }
}

/**
 * The expression, to be matched by an automaton instead of trying one way after the other. Throws what is wrong with it, which
 * cannot be with one that was kept.
 */
export function compilePattern(source: string): Pattern {
  // Read by the engine everybody else holds it against, so that nothing is taken that means something else there.
  new RegExp(source, 'u')
  const automaton = RE2JS.compile(inRe2(source))
  return { size: automaton.programSize(), test: (text) => automaton.test(text) }
}

function reasonOf(error: unknown): string {
  if (error instanceof PatternRefused) return error.message
  return error instanceof SyntaxError ? 'is not one of ECMA-262 with the flag u' : 'is not one that RE2 takes'
}
