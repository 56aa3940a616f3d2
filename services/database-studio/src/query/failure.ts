import { ApiError } from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import postgres from 'postgres'

export interface FailedStatement {
  /** JSON pointer of the text in the body. */
  path: string
  /** Of a position in what Postgres was given (characters, from 1), that in what was written. */
  writtenPosition?(position: number): number
  /** In addition to what Postgres says, such as the number of the statement. */
  params?: Record<string, unknown>
}

/** Of these a session's statement is not the cause: the server shuts down, or the session was terminated. */
const notTheirs = /^(08|28|53300|57P|58)/

/**
 * What Postgres says of SQL that a tenant wrote, as the 422 with its code, position, hint and detail; what does not come of the SQL
 * stays as it is, or is a 503.
 */
export function explainFailure(error: unknown, statement: FailedStatement): unknown {
  if (!(error instanceof postgres.PostgresError) || notTheirs.test(error.code))
    return translatePostgresError(error)
  const { code: sqlState, hint, detail, position, constraint_name: constraint } = error
  const given = Number(position)
  const at = Number.isInteger(given) && given > 0 ? (statement.writtenPosition?.(given) ?? given) : undefined
  const message = sqlState === '57014' ? 'was stopped, as it took too long' : error.message
  const params = {
    sqlState,
    ...(at !== undefined && { position: at }),
    ...(hint && { hint }),
    ...(detail && { detail }),
    ...(constraint && { constraint }),
    ...statement.params,
  }
  return new ApiError('validation_failed', `The SQL failed: ${message}`, {
    details: [{ in: 'body', path: statement.path, code: codeOf(sqlState), message, params }],
    cause: error,
  })
}

/** What a statement whose answer is more than may be read is refused with; what it has written is undone. */
export function resultTooLargeError(path: string, maxBytes: number, cause?: unknown): ApiError {
  const message = `answers more than ${maxBytes / 1_048_576} MiB, so it was stopped and has changed nothing; return fewer rows or columns`
  return new ApiError('validation_failed', `The SQL failed: it ${message}.`, {
    details: [{ in: 'body', path, code: 'answer_too_large', message, params: { mostBytes: maxBytes } }],
    cause,
  })
}

function codeOf(sqlState: string): string {
  if (sqlState === '57014') return 'timeout'
  if (sqlState === '42601') return 'syntax_error'
  if (sqlState === '42501') return 'not_permitted'
  if (sqlState.startsWith('23')) return 'constraint_violated'
  return 'sql_error'
}
