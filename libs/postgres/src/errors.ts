import { ApiError } from '@opsplane/contracts'

/** postgres.js error codes and SQLSTATE classes that mean the server is unavailable, not that the request is wrong. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
])
/**
 * 08: the connection, also as reported by a pooler. 25006: read-only, as after a failover until the pool has found
 * the new primary. 28: the server rejects the role, as while its password is being changed. 53: no connection,
 * memory or disk left. 57P: shutting down, starting, or ending sessions. 58: the disk, the system.
 */
const awayStates = /^(08|25006|28|57P0[1-5]|53[0-4]|58)/
/**
 * A conflict with other transactions, or a timeout: a serialization failure, a deadlock, a lock, a cancelled
 * statement.
 */
const transientStates = /^(40001|40P01|55P03|57014)/

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (typeof error !== 'object' || error === null) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'cause' in error ? codeOf(error.cause) : undefined
}

/** Whether the error means that Postgres cannot be reached, accepts no connections, or is restarting. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && (networkCodes.has(code) || awayStates.test(code))
}

/**
 * Whether the same attempt may succeed immediately; retries must be limited, because a statement may always take
 * too long.
 */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && transientStates.test(code)
}

/** Whether Postgres, or another service of the platform, is unavailable: the same attempt can succeed later. */
export function isDependencyUnavailable(error: unknown): boolean {
  return isDatabaseUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable')
}

/** The name of the violated unique constraint, if that is the error. */
export function uniqueViolation(error: unknown): string | undefined {
  if (codeOf(error) !== '23505') return undefined
  const source = error as { constraint_name?: string; cause?: { constraint_name?: string } }
  return source.constraint_name ?? source.cause?.constraint_name ?? 'unknown'
}

/** The name of the violated foreign key, if that is the error. */
export function foreignKeyViolation(error: unknown): string | undefined {
  if (codeOf(error) !== '23503') return undefined
  const source = error as { constraint_name?: string; cause?: { constraint_name?: string } }
  return source.constraint_name ?? source.cause?.constraint_name ?? 'unknown'
}

/** Whether no partition exists for a row. Every other check violation carries the name of a constraint. */
export function isMissingPartition(error: unknown): boolean {
  if (codeOf(error) !== '23514') return false
  const source = error as { constraint_name?: string; cause?: { constraint_name?: string } }
  return (source.constraint_name ?? source.cause?.constraint_name) === undefined
}

/** Whether a lock could not be acquired within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** Whether Postgres aborted this transaction because of a deadlock: it may be retried. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === '40P01'
}

/** Whether another transaction conflicted. Excludes cancelled statements: with fewer rows they may finish in time. */
export function isRetryable(error: unknown): boolean {
  return isDeadlock(error) || isLockTimeout(error) || codeOf(error) === '40001'
}

/** Descriptions of the fault of an unavailable server, by SQLSTATE. */
const faults: readonly [states: RegExp, fault: string][] = [
  // The limit of the server, the database, the role, or a pooler.
  [/^53300/, 'has no connection left'],
  [/^53(100|400)|^58030/, 'has no disk space left, or cannot read its disk'],
  [/^53200/, 'has no memory left'],
  [/^28/, 'refuses the login of this service'],
  [/^25006/, 'is read-only'],
  [/^57P0/, 'is starting or stopping'],
]

/** Describes the fault if `isDatabaseUnavailable`, as a predicate: `The database ${fault}.` */
export function databaseFault(error: unknown): string {
  const code = codeOf(error) ?? ''
  return faults.find(([states]) => states.test(code))?.[1] ?? 'cannot be reached'
}

/** Translates an unavailable Postgres into the API's 503, with the reason; every other error is returned unchanged. */
export function translatePostgresError(error: unknown): unknown {
  if (!isDatabaseUnavailable(error)) return error
  return unavailable(`The database ${databaseFault(error)}. Try again in a moment.`, error)
}

/**
 * The response to a request that failed with this error: statements that timed out or conflicted also become a
 * 503. Background work distinguishes the two, because it retries indefinitely only while the database is
 * unavailable.
 */
export function answerToPostgresError(error: unknown): unknown {
  if (error instanceof ApiError || !isTransient(error)) return translatePostgresError(error)
  return unavailable(
    'The database took too long, or others were in the way. Try again, or ask for less.',
    error,
  )
}

const unavailable = (message: string, cause: unknown) =>
  new ApiError('service_unavailable', message, { headers: { 'Retry-After': '1' }, cause })
