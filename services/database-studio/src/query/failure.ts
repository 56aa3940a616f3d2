import { ApiError } from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import postgres from 'postgres'

export interface FailedStatement {
  /** JSON pointer of the SQL in the body. */
  path: string
  /** Maps a position in the SQL sent to Postgres to the position in the original SQL (characters, starting at 1). */
  writtenPosition?(position: number): number
  /** Added to the properties of the Postgres error, such as the statement's number. */
  params?: Record<string, unknown>
}

/** SQLSTATE classes not caused by the statement: the server shuts down, or the session was terminated. */
const serverErrorPattern = /^(08|28|53300|57P|58)/

/**
 * Converts a Postgres error in a tenant's SQL to a 422 with its code, position, hint and detail. Errors not caused by
 * the SQL are returned unchanged or become a 503.
 */
export function explainFailure(error: unknown, statement: FailedStatement): unknown {
  if (!(error instanceof postgres.PostgresError) || serverErrorPattern.test(error.code))
    return translatePostgresError(error)
  const { code: sqlState, hint, detail, position, constraint_name: constraint } = error
  const sqlPosition = Number(position)
  const at =
    Number.isInteger(sqlPosition) && sqlPosition > 0
      ? (statement.writtenPosition?.(sqlPosition) ?? sqlPosition)
      : undefined
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

/** Error for a statement whose answer exceeds the limit; its changes are rolled back. */
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
