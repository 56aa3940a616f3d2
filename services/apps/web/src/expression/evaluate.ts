import {
  parseTemplate,
  type Template,
  type TemplateExpression,
  walkPlainPath,
} from '@opsplane/sandbox/template'
import type { ExpressionScope } from './scope.js'

/** Thrown with the reason why an expression of the app could not be evaluated. */
export class ExpressionError extends Error {}

export const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const templates = new Map<string, Template>()
const maxTemplates = 2_000

/**
 * The value of a template, or a promise of it if the template needs JSONata, which is loaded on first use. Throws or
 * rejects with `ExpressionError`.
 */
export function evaluate(
  value: unknown,
  scope: ExpressionScope,
): { now: unknown } | { later: Promise<unknown> } {
  if (typeof value !== 'object' && typeof value !== 'string') return { now: value }
  const template = templateOf(value)
  const results = new Map<TemplateExpression, unknown>()
  const complex: TemplateExpression[] = []
  for (const expression of template.expressions) {
    if (expression.plain) results.set(expression, resolvePath(expression, expression.plain, scope))
    else complex.push(expression)
  }
  if (complex.length === 0) return { now: assembled(template, results) }
  return { later: withJsonata(complex, scope, results).then(() => assembled(template, results)) }
}

/** Like `evaluate`, for callers that can always wait. */
export async function evaluateAsync(value: unknown, scope: ExpressionScope): Promise<unknown> {
  const result = evaluate(value, scope)
  return 'now' in result ? result.now : result.later
}

async function withJsonata(
  expressions: readonly TemplateExpression[],
  scope: ExpressionScope,
  results: Map<TemplateExpression, unknown>,
): Promise<void> {
  const { evaluateJsonata } = await import('./jsonata.js')
  for (const expression of expressions) {
    try {
      results.set(expression, await evaluateJsonata(expression.source, scope))
    } catch (error) {
      throw failed(expression, error)
    }
  }
}

function resolvePath(
  expression: TemplateExpression,
  path: Parameters<typeof walkPlainPath>[0],
  scope: ExpressionScope,
) {
  try {
    return walkPlainPath(path, scope)
  } catch (error) {
    throw failed(expression, error)
  }
}

/** JSONata throws plain objects with a message. */
function failed({ source }: TemplateExpression, cause: unknown): ExpressionError {
  const message = typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : cause
  return new ExpressionError(`{{ ${source} }}: ${message}`, { cause })
}

function templateOf(value: unknown): Template {
  const text = JSON.stringify(value)
  const known = templates.get(text)
  if (known) return known
  const parsed = parseTemplate(value)
  if ('problems' in parsed) {
    throw new ExpressionError(
      parsed.problems.map(({ expression, message }) => `${expression}: ${message}`).join(' '),
    )
  }
  if (templates.size >= maxTemplates) templates.clear()
  templates.set(text, parsed.template)
  return parsed.template
}

function assembled({ root }: Template, results: ReadonlyMap<TemplateExpression, unknown>): unknown {
  const build = (node: Template['root']): unknown => {
    switch (node.kind) {
      case 'constant':
        return node.value
      case 'expression':
        return results.get(node) ?? null
      case 'text':
        return node.parts
          .map((part) => (typeof part === 'string' ? part : toText(results.get(part))))
          .join('')
      case 'array':
        return node.items.map(build)
      case 'object':
        return Object.fromEntries(node.fields.map(([key, field]) => [key, build(field)]))
    }
  }
  return build(root)
}

/** Text form of a value: strings unchanged, `null` and `undefined` as an empty string, everything else as JSON. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Names of the data that the expressions of a value refer to, as in `data.orders.rows`. */
export const namedData = (value: unknown): string[] => namedBelow('data', value)

/** Names of the inputs that the expressions of a value refer to, as in `inputs.site`. */
export const namedInputs = (value: unknown): string[] => namedBelow('inputs', value)

const patterns = {
  data: /\bdata\.(?:`([^`]+)`|([A-Za-z_]\w*))/g,
  inputs: /\binputs\.(?:`([^`]+)`|([A-Za-z_]\w*))/g,
}

function namedBelow(root: keyof typeof patterns, value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  if (!text.includes('{{')) return []
  return [...text.matchAll(patterns[root])].map(([, quoted, plain]) => quoted ?? plain ?? '')
}
