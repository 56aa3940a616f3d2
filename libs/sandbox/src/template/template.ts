import { ExactNumber, secretReference } from '@opsplane/contracts'
import { maxDepth } from '../limits.js'
import { type PathStep, parsePlainPath } from './plain-path.js'
import { maxExpressionLength, type ScannedExpression, scanExpression } from './scan.js'

/** A problem of a template, or of one of its expressions. */
export interface TemplateProblem {
  /** JSON pointer within the value; empty for the value itself. */
  path: string
  /** Without braces. */
  expression: string
  /** Index in the expression. */
  position?: number
  code: string
  message: string
}

/** An expression `{{ … }}` of a template. */
export interface TemplateExpression {
  kind: 'expression'
  source: string
  /** JSON pointer of the string that contains it. */
  path: string
  /** Set if the expression is only a path, which is evaluated without a child. */
  plain: readonly PathStep[] | undefined
}

export type TemplateNode =
  | { kind: 'constant'; value: unknown }
  | TemplateExpression
  | { kind: 'text'; parts: readonly (string | TemplateExpression)[]; path: string }
  | { kind: 'array'; items: readonly TemplateNode[] }
  | { kind: 'object'; fields: readonly (readonly [string, TemplateNode])[] }

declare const parsed: unique symbol

/** A JSON value whose strings may contain `{{ expression }}`; parsed once and immutable. */
export interface Template {
  readonly root: TemplateNode
  /** In the order of their appearance. */
  readonly expressions: readonly TemplateExpression[]
  readonly [parsed]?: true
}

/** Whether the template consists only of constants and paths, which need no child. */
export const isPlain = ({ expressions }: Template): boolean =>
  expressions.every(({ plain }) => plain !== undefined)

export const maxExpressions = 1_000

/**
 * Parses a JSON value. A string that is a single `{{ … }}` yields the expression's value with its type; otherwise each
 * value is inserted into the text (strings unchanged, others as JSON; null and undefined as empty text).
 * `{{secrets.name}}` stays unchanged, for the receiver to replace; `secrets` anywhere else in an expression is a
 * problem. Keys are not templates.
 */
export function parseTemplate(value: unknown): { template: Template } | { problems: TemplateProblem[] } {
  const expressions: TemplateExpression[] = []
  const problems: TemplateProblem[] = []
  const problem = (path: string, found: Omit<TemplateProblem, 'path'>): TemplateNode => {
    problems.push({ path, ...found })
    return { kind: 'constant', value: null }
  }
  const parse = (item: unknown, path: string, depth: number): TemplateNode => {
    if (typeof item === 'string') return parseText(item, path)
    if (item === null || typeof item !== 'object' || item instanceof ExactNumber)
      return { kind: 'constant', value: item }
    if (depth === maxDepth) return problem(path, tooDeep)
    const nodes = Object.entries(item).map(([key, inner]): [string, TemplateNode] => {
      const below = `${path}/${escaped(key)}`
      return [key, key === '__proto__' ? problem(below, forbiddenKey) : parse(inner, below, depth + 1)]
    })
    if (nodes.every(([, { kind }]) => kind === 'constant')) return { kind: 'constant', value: item }
    return Array.isArray(item)
      ? { kind: 'array', items: nodes.map(([, node]) => node) }
      : { kind: 'object', fields: nodes }
  }
  const parseText = (text: string, path: string): TemplateNode => {
    const parts = partsOf(text, path)
    if (!Array.isArray(parts)) return problem(path, parts)
    const own = parts.filter((part) => typeof part !== 'string')
    expressions.push(...own)
    const [only] = parts
    if (own.length === 0) return { kind: 'constant', value: text }
    return parts.length === 1 && typeof only === 'object' ? only : { kind: 'text', parts, path }
  }
  const root = parse(value, '', 0)
  if (expressions.length > maxExpressions) problem('', tooMany)
  return problems.length > 0 ? { problems } : { template: { root, expressions } }
}

/** The texts and expressions of a string in order, or its first problem. */
function partsOf(
  text: string,
  path: string,
): (string | TemplateExpression)[] | Omit<TemplateProblem, 'path'> {
  const parts: (string | TemplateExpression)[] = []
  let [done, from] = [0, 0]
  for (;;) {
    const start = text.indexOf('{{', from)
    if (start < 0) break
    from = secretEnd(text, start) ?? start
    if (from > start) continue
    const scanned = scanExpression(text, start + 2)
    const wrong = problemOf(scanned, text.slice(start + 2, start + 102))
    if (scanned === undefined || wrong) return wrong ?? unterminated(text.slice(start))
    if (start > done) parts.push(text.slice(done, start))
    const source = scanned.source.trim()
    parts.push({ kind: 'expression', source, path, plain: parsePlainPath(source) })
    done = from = scanned.end
  }
  if (done < text.length || parts.length === 0) parts.push(text.slice(done))
  return parts
}

const secretAtPlace = new RegExp(secretReference.source, 'y')

/** End index of a reference to a secret that starts at `start`. */
function secretEnd(text: string, start: number): number | undefined {
  secretAtPlace.lastIndex = start
  return secretAtPlace.test(text) ? secretAtPlace.lastIndex : undefined
}

function problemOf(
  scanned: ScannedExpression | undefined,
  shown: string,
): Omit<TemplateProblem, 'path'> | undefined {
  if (scanned === undefined) return unterminated(shown)
  const { source, secretsAt } = scanned
  const leading = source.length - source.trimStart().length
  const expression = source.trim()
  if (expression === '')
    return { expression, code: 'empty_expression', message: 'needs an expression between {{ and }}' }
  if (secretsAt === undefined) return undefined
  return {
    expression,
    position: secretsAt - leading,
    code: 'secret_in_expression',
    message: 'secrets can be used as {{secrets.name}} only, with nothing else between the braces',
  }
}

const unterminated = (expression: string): Omit<TemplateProblem, 'path'> => ({
  expression,
  code: 'unterminated_expression',
  message: `has no }} that ends it within ${maxExpressionLength} characters, or a brace too many`,
})
const tooDeep = { expression: '', code: 'too_deep', message: `may be nested ${maxDepth} levels deep` }
const forbiddenKey = { expression: '', code: 'forbidden_key', message: '__proto__ cannot be a key' }
const tooMany = {
  expression: '',
  code: 'too_many_expressions',
  message: `may hold up to ${maxExpressions} expressions`,
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
