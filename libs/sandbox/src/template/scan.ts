/** The text between `{{` and `}}`, as far as its tokens determine it. */
export interface ScannedExpression {
  source: string
  /** Index after the closing `}}`. */
  end: number
  /** Index in the source of a reference to `secrets`; `undefined` if there is none. */
  secretsAt: number | undefined
}

interface Token {
  text: string
  at: number
  kind: 'name' | 'string' | 'regex' | 'operator' | 'other'
}

const blank = /[ \t\n\r\v]+/y
const comment = /\/\*[\s\S]*?(\*\/|$)/y
const quoted = /"(?:[^"\\]|\\[\s\S])*("|$)|'(?:[^'\\]|\\[\s\S])*('|$)|`[^`]*(`|$)/y
const name = /[^ \t\n\r\v.[\]{}(),@#;:?+\-*/%|=<>^&!~"'`]+/y
const wordOperators = new Set(['and', 'or', 'in'])
const endsOperand = new Set([')', ']', '}'])
const wildcards = new Set(['*', '%', '?'])

/** In UTF-16 code units. */
export const maxExpressionLength = 16_384

/**
 * Reads an expression that starts after `{{`. It ends at the first `}}` outside of strings, quoted names, comments,
 * regular expressions and nested braces, in JSONata's syntax. `undefined` if there is no such end within the maximum
 * length.
 */
export function scanExpression(whole: string, start: number): ScannedExpression | undefined {
  const text = whole.slice(start, start + maxExpressionLength + 2)
  let [depth, secretsAt, operandNext]: [number, number | undefined, boolean] = [0, undefined, true]
  let before: Token | undefined
  for (let at = 0; at < text.length; ) {
    if (depth === 0 && text.startsWith('}}', at))
      return { source: text.slice(0, at), end: start + at + 2, secretsAt }
    const skipped = match(blank, text, at) ?? match(comment, text, at)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const token = tokenAt(text, at, operandNext)
    if (token.text === '{') depth += 1
    if (token.text === '}') depth -= 1
    if (depth < 0) return undefined
    if (speaksOfSecrets(token, before)) secretsAt ??= at
    operandNext = wantsOperand(token, operandNext)
    if (!(token.text === '.' && before?.text === '$$')) before = token
    at += token.text.length
  }
  return undefined
}

/** JSONata reads `/` as a division after an operand, and otherwise as the start of a regular expression. */
function tokenAt(text: string, at: number, operandNext: boolean): Token {
  const string = match(quoted, text, at)
  if (string !== undefined) return { text: string, at, kind: 'string' }
  if (text[at] === '/' && operandNext) return { text: regexAt(text, at), at, kind: 'regex' }
  const word = match(name, text, at)
  if (word !== undefined) return { text: word, at, kind: 'name' }
  return { text: text[at] ?? '', at, kind: 'operator' }
}

/** Reads up to the `/` that is neither escaped nor within brackets, like JSONata's tokenizer. */
function regexAt(text: string, start: number): string {
  let depth = 0
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? ''
    if (char === '/' && depth === 0 && !isEscaped(text, at)) return text.slice(start, at + 1)
    if ('([{'.includes(char) && text[at - 1] !== '\\') depth += 1
    if (')]}'.includes(char) && text[at - 1] !== '\\') depth -= 1
  }
  return text.slice(start)
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - backslashes - 1] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

function wantsOperand({ kind, text }: Token, operandNext: boolean): boolean {
  if (kind === 'name') return !operandNext && wordOperators.has(text)
  if (kind === 'operator') return !(endsOperand.has(text) || (operandNext && wildcards.has(text)))
  return false
}

/** A field `secrets` of another value is not a reference to secrets, unless that value is the root (`$$`). */
function speaksOfSecrets(token: Token, before: Token | undefined): boolean {
  const word = token.kind === 'string' && token.text.startsWith('`') ? token.text.slice(1, -1) : token.text
  return (token.kind === 'name' || token.kind === 'string') && word === 'secrets' && before?.text !== '.'
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
