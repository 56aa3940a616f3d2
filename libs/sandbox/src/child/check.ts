import type { ExpressionFailure } from '../error-codes.js'
import type { ChildCheck } from '../messages.js'
import { compile } from './compile.js'
import { childError } from './errors.js'
import { referencesOf, type UnknownVariable } from './references.js'

/** Parses expressions and finds what they refer to; the answer's text. */
export function check(expressions: readonly string[]): string {
  return JSON.stringify({ checks: expressions.map(checkOne) })
}

function checkOne(source: string): ChildCheck {
  try {
    const { paths, unknown } = referencesOf(compile(source).ast())
    return { references: paths, ...(unknown && { error: notKnown(unknown) }) }
  } catch (thrown) {
    return { error: childError(thrown), references: [] }
  }
}

const notKnown = ({ name, position }: UnknownVariable): ExpressionFailure => ({
  code: 'expression_unknown',
  message:
    name === 'eval' ? '$eval is not available' : `there is no variable or function $${name.slice(0, 100)}`,
  position,
  token: name.slice(0, 100),
})
