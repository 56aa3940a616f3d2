import type { ExpressionFailure } from '../error-codes.js'
import type { ChildCheck } from '../messages.js'
import { compile } from './compile.js'
import { childError } from './errors.js'
import { findReferences, type UnknownVariable } from './references.js'

/**
 * Parses expressions and finds their references; returns the text of the answer. Calls `onDone` after each expression
 * but the last.
 */
export function check(expressions: readonly string[], onDone: () => void): string {
  const checks: ChildCheck[] = []
  for (const source of expressions) {
    checks.push(checkOne(source))
    if (checks.length < expressions.length) onDone()
  }
  return JSON.stringify({ checks })
}

function checkOne(source: string): ChildCheck {
  try {
    const { paths, unknown } = findReferences(compile(source).ast())
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
