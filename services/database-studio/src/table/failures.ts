import { ApiError, type ErrorDetail } from '@opsplane/contracts'
import { isTransient, translatePostgresError } from '@opsplane/postgres'
import postgres from 'postgres'
import type { Space } from '../data-plane/space.js'

/** SQLSTATE classes that indicate an invalid definition, as opposed to a failure. */
const wrongDefinition = /^(22|42|0A|2BP|54)/

/** The API error for a definition that Postgres rejected. Does not reveal the schema name of the space. */
export function definitionFailure(error: unknown, { schema }: Pick<Space, 'schema'>): unknown {
  if (error instanceof ApiError || !(error instanceof postgres.PostgresError))
    return translatePostgresError(error)
  const { code, constraint_name: constraint = '' } = error
  const message = error.message.replaceAll(`${schema}.`, '')
  if (constraint === 'tables_slug_key' || code === '42P07')
    return refusal('conflict', 'name_taken', sentence(message), error)
  if (code === '23505' || code === '23503' || code === '23514' || code === '23502')
    return refusal('conflict', 'rows_in_the_way', sentence(message), error)
  if (isTransient(error)) {
    const busy = 'The table is in use, and was not to be had for long enough. Try again.'
    return new ApiError('service_unavailable', busy, { headers: { 'Retry-After': '1' }, cause: error })
  }
  // 42501 means that the table's owner lacks a right, which is not a problem of the definition.
  if (wrongDefinition.test(code) && code !== '42501')
    return refusal('validation_failed', 'refused_by_postgres', sentence(message), error)
  return translatePostgresError(error)
}

const sentence = (message: string) => `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`

function refusal(
  code: 'conflict' | 'validation_failed',
  why: string,
  message: string,
  cause: unknown,
): ApiError {
  const detail: ErrorDetail = { in: 'body', path: '', code: why, message }
  return new ApiError(code, message, { details: [detail], cause })
}
