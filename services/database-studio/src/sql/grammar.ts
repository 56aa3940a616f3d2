import { ApiError } from '@opsplane/contracts'
import type { Node, ScanToken } from 'libpg-query'

/** One statement of a text, as the grammar of Postgres reads it. */
export interface Statement {
  /** The node's kind, such as `SelectStmt`. */
  kind: string
  node: Node
  /** As it was written, from its first word on, without the semicolon. */
  text: string
  /** Bytes of UTF-8 before it. */
  start: number
}

/** A token, with where it is in bytes of UTF-8. */
export type Token = Pick<ScanToken, 'start' | 'end' | 'text' | 'tokenName' | 'keywordKind'>

/** The parser is WASM of 1.7 MB: loaded with the first statement. */
let loading: Promise<typeof import('libpg-query')> | undefined
async function grammar() {
  loading ??= import('libpg-query').then(async (library) => {
    await library.loadModule()
    return library
  })
  return loading
}

/**
 * The statements of a text, which is at most some hundred KiB. Throws `validation_failed` with where it is no SQL, or where
 * it is nested so deeply that the parser, which recurses, would run out of stack.
 */
export async function parseStatements(sql: string): Promise<Statement[]> {
  const tokens = await scan(sql)
  refuseDepth(sql, tokens)
  const { parseSync } = await grammar()
  const bytes = Buffer.from(sql)
  const { stmts = [] } = attempt(sql, () => (tokens.some(isSubstance) ? parseSync(sql) : {}))
  let next = 0
  return stmts.flatMap(({ stmt, stmt_location: from = 0, stmt_len: length }) => {
    if (!stmt) return []
    // Statements come in the order of the text: what is behind one is not gone through again.
    for (
      let token = tokens[next];
      token && !(token.start >= from && isSubstance(token));
      token = tokens[next]
    )
      next++
    const start = tokens[next]?.start ?? from
    const text = bytes.subarray(start, length ? from + length : bytes.length).toString()
    return [{ kind: findNodeKind(stmt), node: stmt, text: withoutEnd(text.trim()), start }]
  })
}

/** The tokens of a text, comments included. Throws `validation_failed` where one does not end. */
export async function scan(sql: string): Promise<Token[]> {
  const { scanSync, parseSync } = await grammar()
  if (sql.includes('\0')) throw sqlError('must not contain NUL', { sql, at: 0 })
  if (sql === '') return []
  return attempt(sql, () => {
    try {
      return scanSync(sql).tokens
    } catch (error) {
      // What ends within a token: the lexer says only that, and the parser also where.
      if (error instanceof SyntaxError) parseSync(sql)
      throw error
    }
  })
}

export const isComment = ({ tokenName }: Token) => tokenName === 'SQL_COMMENT' || tokenName === 'C_COMMENT'
const isSubstance = (token: Token) => !isComment(token) && token.text !== ';'

/** A node is an object of one field, which is called like its kind. */
export const findNodeKind = (node: object): string => Object.keys(node)[0] ?? ''

/** Every object within a node, itself included, under the name it has there: nodes under their kind. */
export function* walkNodes(value: unknown): Generator<{ kind: string; fields: Record<string, unknown> }> {
  if (typeof value !== 'object' || value === null) return
  for (const [kind, fields] of Object.entries(value)) {
    if (typeof fields !== 'object' || fields === null) continue
    yield { kind, fields: fields as Record<string, unknown> }
    yield* walkNodes(fields)
  }
}

/** Fields that hold a statement, such as `selectStmt`, are not called like one. */
export const isStatement = (kind: string) => /^[A-Z]\w*Stmt$/.test(kind)

/** What a list of name nodes says, joined with dots. */
export const joinNames = (names: readonly Node[] | undefined): string =>
  (names ?? []).map((name) => ('String' in name ? (name.String.sval ?? '') : '*')).join('.')

const maxDepth = 400
const maxChain = 1_200

/**
 * Trees grow deep by brackets, by what stands in a row without a comma, such as `1+1+1`, and by set operations and joins.
 * Far below these bounds is everything that is written; far above them the parser runs out of stack.
 */
function refuseDepth(sql: string, tokens: readonly Token[]): void {
  const open = [0]
  let inRow = 0
  let chained = 0
  for (const token of tokens) {
    const { text, start } = token
    const level = open.length - 1
    if (text === '(' || text === '[') open.push(0)
    else if (text === ')' || text === ']') inRow -= level > 0 ? (open.pop() ?? 0) : 0
    else if (text === ',' || text === ';') {
      inRow -= open[level] ?? 0
      open[level] = 0
      if (text === ';') chained = 0
    } else if (!isComment(token)) {
      inRow += 1
      open[level] = (open[level] ?? 0) + 1
      if (chains.has(text.toLowerCase())) chained += 1
    }
    if (open.length > maxDepth || inRow > maxChain || chained > maxDepth)
      throw sqlError('is nested too deeply', { sql, at: start, code: 'too_deep' })
  }
}

const chains = new Set(['union', 'intersect', 'except', 'join', 'case', 'select'])

function attempt<T>(sql: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) throw sqlError('is nested too deeply', { sql, at: 0, code: 'too_deep' })
    const details = (error as { sqlDetails?: { message: string; cursorPosition: number } }).sqlDetails
    if (!details) throw error
    // The parser counts characters here, bytes everywhere else.
    const at = Buffer.byteLength([...sql].slice(0, details.cursorPosition).join(''))
    throw sqlError(details.message, { sql, at, code: 'syntax_error', sqlState: '42601' })
  }
}

/** Types that find names by numbers, those of other tenants among them: no right is asked for. */
const naming =
  /^reg(class|type|proc|procedure|oper|operator|namespace|role|config|dictionary|collation|database)$/

/** The first type of that kind, whether as a type or called like a function. */
export function findTypeName(kind: string, fields: Record<string, unknown>): string | undefined {
  const names = kind === 'FuncCall' ? fields.funcname : /^typeName$/i.test(kind) ? fields.names : undefined
  const last =
    joinNames(names as Node[] | undefined)
      .split('.')
      .at(-1) ?? ''
  return naming.test(last) ? last : undefined
}

export interface SqlProblem {
  sql: string
  /** Bytes of UTF-8 before what is wrong. */
  at: number
  code?: string
  sqlState?: string
  /** JSON pointer of the text in the body; `/sql` unless given. */
  path?: string
}

/** The 422 that says what is wrong with a text and where: `position` counts characters from 1, as Postgres does. */
export function sqlError(message: string, { sql, at, code, sqlState, path = '/sql' }: SqlProblem): ApiError {
  const before = Buffer.from(sql).subarray(0, at).toString()
  const lines = before.split('\n')
  const position = [...before].length + 1
  const column = [...(lines.at(-1) ?? '')].length + 1
  const where = `line ${lines.length}, column ${column}`
  const params = { position, line: lines.length, column, ...(sqlState !== undefined && { sqlState }) }
  return new ApiError('validation_failed', `The SQL ${message} (${where}).`, {
    details: [{ in: 'body', path, code: code ?? 'not_allowed', message, params }],
  })
}

/** Without semicolons and spaces at the end. A pattern for that would go over each run of spaces again from each of its places. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && /[;\s]/.test(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}
