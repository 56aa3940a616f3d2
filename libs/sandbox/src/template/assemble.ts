import { secretReference } from '@opsplane/contracts'
import type { ExpressionFailure } from '../error-codes.js'
import { maxDepth, measureValue } from '../limits.js'
import { type Evaluated, ownFailure, type RequestFailure, secretInValue } from '../results.js'
import { valueError } from '../value-error.js'
import type { Template, TemplateExpression, TemplateNode } from './template.js'

export type ExpressionResult = { value?: unknown } | { error: RequestFailure }

interface AssembleOptions {
  resultOf(expression: TemplateExpression): ExpressionResult
  /** Bytes of JSON that the expressions of a template may put into it, about. */
  maxBytes: number
  /** Whether values may hold what looks like a reference to a secret: for what is not sent anywhere. */
  keepSecretReferences: boolean
}

/**
 * The value of a template; undefined becomes null. What is constant is shared with the template, and what an expression
 * found in the scope with the scope. A reference to a secret that comes from data fails: the receiver of the value would
 * fill it in.
 */
export function assemble({ root, expressions }: Template, options: AssembleOptions): Evaluated {
  const values = new Map<TemplateExpression, unknown>()
  let left = options.maxBytes
  for (const expression of expressions) {
    const result = options.resultOf(expression)
    if ('error' in result) return unanswered(result.error, expression, expressions)
    const measured = measureValue(result.value, { bytes: left, depth: maxDepth })
    if (measured.problem) return failed(valueError(measured.problem), expression)
    left -= measured.bytes
    if (measured.braces && !options.keepSecretReferences && holdsSecret(result.value))
      return failed(secretInValue, expression)
    values.set(expression, result.value)
  }
  let joined: TemplateExpression | undefined
  const textOf = (parts: readonly (string | TemplateExpression)[]): string => {
    const text = parts.map((part) => (typeof part === 'string' ? part : inText(values.get(part)))).join('')
    const own = parts.map((part) => (typeof part === 'string' ? secretsIn(part) : 0)).reduce(sum, 0)
    if (secretsIn(text) !== own) joined ??= parts.find((part) => typeof part !== 'string')
    return text
  }
  const build = (node: TemplateNode): unknown => {
    switch (node.kind) {
      case 'constant':
        return node.value
      case 'expression':
        return values.get(node) ?? null
      case 'text':
        return textOf(node.parts)
      case 'array':
        return node.items.map(build)
      case 'object':
        return Object.fromEntries(node.fields.map(([key, value]) => [key, build(value)]))
    }
  }
  const value = build(root)
  return joined && !options.keepSecretReferences ? failed(secretInValue, joined) : { ok: true, value }
}

/** Blames the expression at which a whole request ended, where it is one of the template's. */
function unanswered(
  error: RequestFailure,
  expression: TemplateExpression,
  all: readonly TemplateExpression[],
): Evaluated {
  const blamed = all.find(({ source }) => source === error.cause) ?? expression
  const { code, message } = error
  const because = { code, message: `was not evaluated: another expression ${message}` }
  return failed(ownFailure(error, blamed.source) ?? because, blamed)
}

/** An expression's error, with where it stands. */
function failed(error: ExpressionFailure, { path, source }: TemplateExpression): Evaluated {
  return { ok: false, error: { ...error, path, expression: source } }
}

function inText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Values are no deeper than may be by now. */
function holdsSecret(value: unknown): boolean {
  if (typeof value === 'string') return secretsIn(value) > 0
  if (value === null || typeof value !== 'object') return false
  return Object.values(value).some(holdsSecret)
}

const secretsIn = (text: string): number =>
  text.includes('{{') ? [...text.matchAll(secretReference)].length : 0
const sum = (left: number, right: number): number => left + right
