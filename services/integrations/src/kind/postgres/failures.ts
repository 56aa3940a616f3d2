import { ApiError } from '@opsplane/contracts'
import { isDatabaseUnavailable, isTransient } from '@opsplane/postgres'
import postgres from 'postgres'
import { CallFailure } from '../call-failure.js'
import { toConnectFailure } from '../outbound-failure.js'
import { StatementNotStartedError } from './statement.js'

/** Converts an error of a statement, or of the login before it. */
export function databaseFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  if (error instanceof postgres.PostgresError) return refusedBy(error)
  if (error instanceof ApiError)
    return new CallFailure('unreachable', 'No connection to the database is free.', {
      sent: false,
      cause: error,
    })
  const message = 'The connection to the database was lost.'
  const sent = !(error instanceof StatementNotStartedError)
  return toConnectFailure(error) ?? new CallFailure('unreachable', message, { sent, cause: error })
}

/** A failed statement has changed nothing. */
function refusedBy(error: postgres.PostgresError): CallFailure {
  const { code: sqlState, message, position, hint, detail, constraint_name: constraint } = error
  if (sqlState === '57014')
    return new CallFailure('timeout', 'The statement was stopped, as it took too long. (SQLSTATE 57014)', {
      sent: false,
      cause: error,
    })
  const at = Number(position) > 0 ? ` at character ${position}` : ''
  const reported = {
    sqlState,
    message,
    position: at ? Number(position) : undefined,
    hint,
    detail,
    constraint,
  }
  return new CallFailure('answered', `${message} (SQLSTATE ${sqlState}${at})`, {
    sent: false,
    ...statusOf(error),
    body: JSON.stringify(reported),
    cause: error,
  })
}

/**
 * Equivalent HTTP status. 429, retryable: conflicts with other transactions. 503: the server is shutting down or has
 * no free connection. None: errors that a retry does not fix, such as a wrong login or a rejected write.
 */
function statusOf(error: postgres.PostgresError): { status?: number } {
  if (isTransient(error)) return { status: 429 }
  return isDatabaseUnavailable(error) && !/^(28|25006)/.test(error.code) ? { status: 503 } : {}
}
