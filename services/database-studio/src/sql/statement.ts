import { findTypeName, isStatement, parseStatements, type Statement, sqlError, walkNodes } from './grammar.js'

export type QueryMode = 'read' | 'write'

/** Node kinds of statements that may be run. */
const readable = new Set(['SelectStmt'])
const writable = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'])

const commandOf: Record<string, string> = {
  ...{ InsertStmt: 'INSERT', UpdateStmt: 'UPDATE', DeleteStmt: 'DELETE', MergeStmt: 'MERGE' },
  ...{ VariableSetStmt: 'SET', VariableShowStmt: 'SHOW', TransactionStmt: 'a statement of transactions' },
  ...{ DoStmt: 'DO', CopyStmt: 'COPY', ListenStmt: 'LISTEN', NotifyStmt: 'NOTIFY', CallStmt: 'CALL' },
  ...{ ExplainStmt: 'EXPLAIN', PrepareStmt: 'PREPARE', ExecuteStmt: 'EXECUTE', TruncateStmt: 'TRUNCATE' },
  ...{ GrantStmt: 'GRANT or REVOKE', LockStmt: 'LOCK', DeclareCursorStmt: 'DECLARE', DiscardStmt: 'DISCARD' },
}

/** Name of a statement in error messages. */
export const commandName = (kind: string): string => commandOf[kind] ?? kind.replace(/Stmt$/, '')

/**
 * Parses one SELECT or VALUES, and in mode `write` also one INSERT, UPDATE or DELETE, with any WITH clause. Throws
 * `validation_failed` for everything else. Access is controlled by the role that runs the statement, not here.
 */
export async function checkQuery(sql: string, mode: QueryMode): Promise<Statement> {
  const [statement, second] = await parseStatements(sql)
  const problem = { sql, at: second?.start ?? statement?.start ?? 0 }
  if (!statement) throw sqlError('must be one statement, and is none', { ...problem, code: 'no_statement' })
  if (second)
    throw sqlError('must be one statement, and is several', { ...problem, code: 'several_statements' })
  const allowed = mode === 'write' ? writable : readable
  if (!allowed.has(statement.kind)) throw refusal(statement.kind, mode, problem)
  for (const { kind, fields } of walkNodes(statement.node)) refuseWithin(kind, fields, mode, problem)
  return statement
}

function refuseWithin(
  kind: string,
  fields: Record<string, unknown>,
  mode: QueryMode,
  problem: { sql: string; at: number },
): void {
  if (isStatement(kind) && kind !== 'SelectStmt' && (mode === 'read' || !writable.has(kind)))
    throw refusal(kind, mode, problem)
  const type = findTypeName(kind, fields)
  if (type)
    throw sqlError(`uses the type ${type}, which names what others have`, {
      ...problem,
      code: 'type_refused',
    })
  if (kind === 'SelectStmt' && 'intoClause' in fields)
    throw sqlError('must not be SELECT INTO, which makes a table', { ...problem, code: 'statement_refused' })
  if (kind === 'SelectStmt' && mode === 'read' && 'lockingClause' in fields)
    throw sqlError('locks rows, which takes mode write', { ...problem, code: 'mode_write_needed' })
}

function refusal(kind: string, mode: QueryMode, problem: { sql: string; at: number }) {
  if (mode === 'read' && writable.has(kind))
    return sqlError(`is ${commandName(kind)}, which takes mode write`, {
      ...problem,
      code: 'mode_write_needed',
    })
  const allowedCommands = mode === 'write' ? 'SELECT, VALUES, INSERT, UPDATE or DELETE' : 'SELECT or VALUES'
  return sqlError(`is ${commandName(kind)}: only one ${allowedCommands} can be run here`, {
    ...problem,
    code: 'statement_refused',
  })
}
