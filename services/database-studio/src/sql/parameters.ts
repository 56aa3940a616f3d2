import type { ParameterType, ResultType } from '@opsplane/contracts'
import { isComment, scan, sqlError, type Token } from './grammar.js'

/** A text with numbered parameters. */
export interface NumberedStatement {
  text: string
  /** The original text with every parameter replaced by `$1` at unchanged positions, as input for the grammar. */
  masked: string
  /** Parameter names in the order of their numbers; empty if the text uses numbers itself. */
  names: string[]
  /** Number of parameters. */
  count: number
  /** Maps a position in `text` (characters, starting at 1) to the position in the original text. */
  writtenPosition(position: number): number
}

const name = /^[A-Za-z_][A-Za-z0-9_]*$/
/** After these tokens, a colon between square brackets ends the lower bound of a slice. */
const endsExpression = new Set(['IDENT', 'ICONST', 'FCONST', 'SCONST', 'PARAM'])

/** SQL types by their names in parameter declarations. */
const casts: Record<ResultType, string> = {
  ...{ text: 'text', integer: 'integer', bigint: 'bigint', decimal: 'numeric', boolean: 'boolean' },
  ...{ date: 'date', timestamp: 'timestamptz', json: 'jsonb', uuid: 'uuid' },
  ...{ float: 'float8', time: 'time', local_timestamp: 'timestamp', interval: 'interval' },
}
const castOf = (type: ParameterType) => type.replace(/^\w+/, (name) => casts[name as ResultType])

/**
 * Numbers the named parameters `:name` of a text, one number per name, and adds a cast to those with a given type (by
 * name or number). Parameters are found with the tokens of the Postgres lexer, so strings, quoted names, comments and
 * casts contain none. Throws `validation_failed` if names and numbers are mixed, or if numbers have a gap.
 */
export async function numberParameters(
  sql: string,
  types: Readonly<Record<string, ParameterType>> = {},
): Promise<NumberedStatement> {
  const tokens = (await scan(sql)).filter((token) => !isComment(token))
  const found = placeholders(tokens)
  const numbered = found.filter(({ byNumber }) => byNumber)
  const [first] = found
  if (first && numbered.length > 0 && numbered.length < found.length)
    throw sqlError('mixes named and numbered parameters', { sql, at: first.start, code: 'mixed_parameters' })
  const names = [...new Set(found.map(({ name }) => name))]
  const count = numbered.length > 0 ? Math.max(...names.map(Number)) : names.length
  if (count !== names.length || names.includes('0'))
    throw sqlError('leaves out a number among its parameters', { sql, at: 0, code: 'missing_parameter' })
  const numberOf = ({ name, byNumber }: Placeholder) => {
    const number = `$${byNumber ? name : names.indexOf(name) + 1}`
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    return type ? `(${number}::${castOf(type)})` : number
  }
  return { ...replaced(sql, found, numberOf), names: numbered.length > 0 ? [] : names, count }
}

interface Placeholder {
  /** Without its colon or dollar sign. */
  name: string
  byNumber: boolean
  start: number
  end: number
}

function placeholders(tokens: readonly Token[]): Placeholder[] {
  const found: Placeholder[] = []
  let brackets = 0
  for (const [index, token] of tokens.entries()) {
    const { start, end, text } = token
    if (text === '[') brackets += 1
    if (text === ']') brackets -= 1
    if (token.tokenName === 'PARAM')
      found.push({ name: String(Number(text.slice(1))), byNumber: true, start, end })
    const next = tokens[index + 1]
    if (text !== ':' || !next || next.start !== end || !name.test(next.text)) continue
    const before = tokens[index - 1]
    if (brackets > 0 && before && isOperand(before)) continue
    found.push({ name: next.text, byNumber: false, start, end: next.end })
  }
  return found
}

/** Keyword kind of reserved words in the Postgres lexer. A reserved word begins a new expression. */
const reserved = 4

const isOperand = ({ text, tokenName, keywordKind }: Token) =>
  endsExpression.has(tokenName) ||
  text === ')' ||
  text === ']' ||
  (name.test(text) && keywordKind !== reserved)

function replaced(
  sql: string,
  found: readonly Placeholder[],
  numberOf: (placeholder: Placeholder) => string,
) {
  const bytes = Buffer.from(sql)
  const masked = Buffer.from(bytes)
  const parts: string[] = []
  /** Offset in the new text behind each number, and by how much the text has shifted there. */
  const moves: { from: number; by: number }[] = []
  let length = 0
  let by = 0
  let at = 0
  for (const placeholder of found) {
    const between = bytes.subarray(at, placeholder.start).toString()
    const number = numberOf(placeholder)
    parts.push(between, number)
    masked.fill(' ', placeholder.start, placeholder.end).write('$1', placeholder.start)
    length += [...between].length + number.length
    by += placeholder.end - placeholder.start - number.length
    moves.push({ from: length, by })
    at = placeholder.end
  }
  parts.push(bytes.subarray(at).toString())
  const writtenPosition = (position: number) =>
    position + (moves.findLast(({ from }) => position - 1 >= from)?.by ?? 0)
  return { text: parts.join(''), masked: masked.toString(), writtenPosition }
}
