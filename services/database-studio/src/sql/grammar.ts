import { ApiError } from '@opsplane/contracts'
import type { Node, ScanToken } from 'libpg-query'

/** One statement of a text, parsed with the Postgres grammar. */
export interface Statement {
  /** Kind of the node, such as `SelectStmt`. */
  kind: string
  node: Node
  /** The original text from the first word on, without the semicolon. */
  text: string
  /** Offset in UTF-8 bytes. */
  start: number
}

/** A token with its position in UTF-8 bytes. */
export type Token = Pick<ScanToken, 'start' | 'end' | 'text' | 'tokenName' | 'keywordKind'>

/** The parser is 1.7 MB of WASM, so it is loaded with the first statement. */
let loading: Promise<typeof import('libpg-query')> | undefined
async function grammar() {
  loading ??= import('libpg-query').then(async (library) => {
    await library.loadModule()
    return library
  })
  return loading
}

/**
 * The statements of a text of at most a few hundred KiB. Throws `validation_failed` with the position if the text is
 * not valid SQL, or is nested so deeply that the recursive parser would run out of stack.
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
    // Statements are in text order, so tokens before the previous statement's end are not scanned again.
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

/** The tokens of a text, including comments. Throws `validation_failed` if a token is unterminated. */
export async function scan(sql: string): Promise<Token[]> {
  const { scanSync, parseSync } = await grammar()
  if (sql.includes('\0')) throw sqlError('must not contain NUL', { sql, at: 0 })
  if (sql === '') return []
  return attempt(sql, () => {
    try {
      return scanSync(sql).tokens
    } catch (error) {
      // For an unterminated token the lexer reports no position, but the parser does.
      if (error instanceof SyntaxError) parseSync(sql)
      throw error
    }
  })
}

export const isComment = ({ tokenName }: Token) => tokenName === 'SQL_COMMENT' || tokenName === 'C_COMMENT'
const isSubstance = (token: Token) => !isComment(token) && token.text !== ';'

/** A node is an object with one property, which is named after its kind. */
export const findNodeKind = (node: object): string => Object.keys(node)[0] ?? ''

/** Every object within a node, including itself, with its property name, which is the kind for nodes. */
export function* walkNodes(value: unknown): Generator<{ kind: string; fields: Record<string, unknown> }> {
  if (typeof value !== 'object' || value === null) return
  for (const [kind, fields] of Object.entries(value)) {
    if (typeof fields !== 'object' || fields === null) continue
    yield { kind, fields: fields as Record<string, unknown> }
    yield* walkNodes(fields)
  }
}

/** Fields that hold a statement, such as `selectStmt`, do not match. */
export const isStatement = (kind: string) => /^[A-Z]\w*Stmt$/.test(kind)

/** The names in a list of name nodes, joined with dots. */
export const joinNames = (names: readonly Node[] | undefined): string =>
  (names ?? []).map((name) => ('String' in name ? (name.String.sval ?? '') : '*')).join('.')

const maxDepth = 400
const maxChain = 1_200

/**
 * Rejects texts that nest too deeply. Trees grow by brackets, by long sequences without a comma such as `1+1+1`, and by
 * set operations and joins. The bounds are far above real SQL and far below the depth at which the parser runs out of
 * stack.
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
    // The parser counts characters here, but bytes everywhere else.
    const at = Buffer.byteLength([...sql].slice(0, details.cursorPosition).join(''))
    throw sqlError(details.message, { sql, at, code: 'syntax_error', sqlState: '42601' })
  }
}

/** Types that resolve names to object ids without any permission check, including objects of other tenants. */
const naming =
  /^reg(class|type|proc|procedure|oper|operator|namespace|role|config|dictionary|collation|database)$/

/** The name of such a type if the node uses it, as a type or as a function. */
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
  /** UTF-8 bytes before the problem. */
  at: number
  code?: string
  sqlState?: string
  /** JSON pointer of the text in the body; default `/sql`. */
  path?: string
}

/** A 422 with the problem of a SQL text: `position` counts characters starting at 1, as in Postgres. */
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

/** Removes semicolons and spaces at the end. A regular expression would take quadratic time on long runs of spaces. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && /[;\s]/.test(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}
