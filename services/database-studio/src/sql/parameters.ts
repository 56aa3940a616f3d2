import { isComment, scan, sqlError, type Token } from './grammar.js'

/** A text whose parameters have numbers. */
export interface Numbered {
  text: string
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

/**
 * Gives the parameters `:name` of a text numbers, one for each name. What is a parameter is told by the tokens of Postgres'
 * lexer: nothing in strings, quoted names, comments or casts is. Throws `validation_failed` where names and numbers are mixed, or
 * numbers leave one out.
 */
export async function numberParameters(sql: string): Promise<Numbered> {
  const bytes = Buffer.from(sql)
  const tokens = (await scan(sql)).filter((token) => !isComment(token))
  const found = namedIn(tokens)
  const numbers = new Set(
    tokens.flatMap(({ tokenName, text }) => (tokenName === 'PARAM' ? [Number(text.slice(1))] : [])),
  )
  const [first] = found
  if (first && numbers.size > 0)
    throw sqlError('mixes named and numbered parameters', { sql, at: first.start, code: 'mixed_parameters' })
  const highest = Math.max(0, ...numbers)
  if (highest !== numbers.size || numbers.has(0))
    throw sqlError('leaves out a number among its parameters', { sql, at: 0, code: 'missing_parameter' })
  if (!first) return { text: sql, names: [], count: highest, writtenPosition: (position) => position }
  return rewrite(bytes, found)
}

interface Placeholder {
  name: string
  start: number
  end: number
}

function namedIn(tokens: readonly Token[]): Placeholder[] {
  const found: Placeholder[] = []
  let brackets = 0
  for (const [index, token] of tokens.entries()) {
    if (token.text === '[') brackets += 1
    if (token.text === ']') brackets -= 1
    const next = tokens[index + 1]
    if (token.text !== ':' || !next || next.start !== token.end || !name.test(next.text)) continue
    const before = tokens[index - 1]
    if (brackets > 0 && before && isOperand(before)) continue
    found.push({ name: next.text, start: token.start, end: next.end })
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

function rewrite(bytes: Buffer, found: readonly Placeholder[]): Numbered {
  const names = [...new Set(found.map((placeholder) => placeholder.name))]
  const parts: string[] = []
  /** Where each number begins in the new text, and by how much what comes after it has moved. */
  const moves: { from: number; by: number }[] = []
  let written = 0
  let read = 0
  let at = 0
  for (const { name, start, end } of found) {
    const between = bytes.subarray(at, start).toString()
    const number = `$${names.indexOf(name) + 1}`
    parts.push(between, number)
    written += [...between].length + number.length
    read += [...between].length + name.length + 1
    moves.push({ from: written, by: read - written })
    at = end
  }
  parts.push(bytes.subarray(at).toString())
  const writtenPosition = (position: number) =>
    position + (moves.findLast(({ from }) => position - 1 >= from)?.by ?? 0)
  return { text: parts.join(''), names, count: names.length, writtenPosition }
}
