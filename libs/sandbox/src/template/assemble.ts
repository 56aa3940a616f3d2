import { secretReference } from '@opsplane/contracts'
import type { ExpressionFailure } from '../error-codes.js'
import { maxDepth, measureValue } from '../limits.js'
import { type Evaluated, ownFailure, type RequestFailure, secretInValue } from '../results.js'
import { valueError } from '../value-error.js'
import type { Template, TemplateExpression, TemplateNode } from './template.js'

export type ExpressionResult = { value?: unknown } | { error: RequestFailure }

interface AssembleOptions {
  resultOf(expression: TemplateExpression): ExpressionResult
  /** Approximate maximum size in bytes, as JSON, of the values that the expressions insert. */
  maxBytes: number
  /** Whether values may contain references to secrets; only for values that are not sent anywhere. */
  keepSecretReferences: boolean
}

/**
 * Builds the value of a template; `undefined` becomes `null`. Constants are shared with the template, and values found
 * in the scope are shared with the scope. A reference to a secret that comes from data fails, because the receiver of
 * the value would replace it by the secret.
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
    if (measured.braces && !options.keepSecretReferences && containsSecret(result.value))
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

/** Attributes the failure of a whole request to the expression that caused it, if the template contains it. */
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

/** Adds the position to an expression's error. */
function failed(error: ExpressionFailure, { path, source }: TemplateExpression): Evaluated {
  return { ok: false, error: { ...error, path, expression: source } }
}

function inText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The recursion is bounded, because the depth of the value was checked before. */
function containsSecret(value: unknown): boolean {
  if (typeof value === 'string') return secretsIn(value) > 0
  if (value === null || typeof value !== 'object') return false
  return Object.values(value).some(containsSecret)
}

const secretsIn = (text: string): number =>
  text.includes('{{') ? [...text.matchAll(secretReference)].length : 0
const sum = (left: number, right: number): number => left + right
