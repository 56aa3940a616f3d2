import type { ChildCheck } from '../messages.js'
import { compile } from './compile.js'
import { childError } from './errors.js'
import { referencesOf } from './references.js'

/** Parses expressions and finds what they refer to; the answer's text. */
export function check(expressions: readonly string[]): string {
  return JSON.stringify({ checks: expressions.map(checkOne) })
}

function checkOne(source: string): ChildCheck {
  try {
    return { references: referencesOf(compile(source).ast()) }
  } catch (thrown) {
    return { error: childError(thrown), references: [] }
  }
}
