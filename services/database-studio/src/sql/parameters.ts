import type { ParameterType, ResultType } from '@opsplane/contracts'
import { isComment, scan, sqlError, type Token } from './grammar.js'

/** A text whose parameters have numbers. */
export interface NumberedStatement {
  text: string
  /** As it was written, but for its parameters, which are all `$1`: what the grammar reads, every place as it was. */
  masked: string
  /** The names in the order of their numbers; none where the text has numbers itself. */
  names: string[]
  /** How many parameters it takes. */
  count: number
  /** Of a position (characters, from 1) in `text`, that in what was written. */
  writtenPosition(position: number): number
}

const name = /^[A-Za-z_][A-Za-z0-9_]*$/
/** After these a colon between square brackets ends the lower bound of a slice. */
const endsExpression = new Set(['IDENT', 'ICONST', 'FCONST', 'SCONST', 'PARAM'])

/** SQL types by the names parameters have for them. */
const casts: Record<ResultType, string> = {
  ...{ text: 'text', integer: 'integer', bigint: 'bigint', decimal: 'numeric', boolean: 'boolean' },
  ...{ date: 'date', timestamp: 'timestamptz', json: 'jsonb', uuid: 'uuid' },
  ...{ float: 'float8', time: 'time', local_timestamp: 'timestamp', interval: 'interval' },
}
const castOf = (type: ParameterType) => type.replace(/^\w+/, (name) => casts[name as ResultType])

/**
 * Gives the parameters `:name` of a text numbers, one for each name, and those of a given type (by name, or by number) a cast to
 * it. What is a parameter follows from the tokens of Postgres' lexer: nothing in strings, quoted names, comments or casts is.
 * Throws `validation_failed` where names and numbers are mixed, or numbers leave one out.
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

/** As Postgres' lexer counts: a reserved word begins something. */
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
  /** Where what comes after each number begins in the new text, and by how much it has moved. */
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
