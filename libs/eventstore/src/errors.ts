import { ApiError, IdempotencyRaceError } from '@opsplane/contracts'
import { isDatabaseUnavailable, translatePostgresError, uniqueViolation } from '@opsplane/postgres'

/** Another writer appended to an aggregate of this commit first: load, decide and commit again. */
export class VersionRaceError extends Error {
  constructor(options?: ErrorOptions) {
    super('an aggregate has changed since it was loaded', options)
    this.name = 'VersionRaceError'
  }
}

/** A row the decision depended on has changed, but none of the rows it writes: If-Match still holds. */
export class DependencyChangedError extends VersionRaceError {
  constructor(options?: ErrorOptions) {
    super(options)
    this.name = 'DependencyChangedError'
  }
}

const retriableStates = new Set(['40001', '40P01'])

/** Translates the error of a failed append of one commit. */
export function commitFailure(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return translatePostgresError(error)
  const constraint = uniqueViolation(error)
  if (constraint === 'idempotency_keys_pkey') return new IdempotencyRaceError({ cause: error })
  if (constraint === 'stream_heads_pkey' || retriableStates.has(sqlState(error)))
    return new VersionRaceError({ cause: error })
  return constraint === undefined ? error : notUnique(constraint, error)
}

/** Translates the verdict on a commit that the append did not write: see `Verdicts`. */
export function verdictFailure(verdict: string): Error {
  const [kind, index] = verdict.split(':')
  if (kind === 'key') return new IdempotencyRaceError()
  if (kind === 'relied') return new DependencyChangedError()
  return index === undefined ? new VersionRaceError() : notUnique(index)
}

/** The error after other writers have won every race. */
export function versionConflict(): ApiError {
  return new ApiError('version_conflict', 'Others are changing this resource at the same time. Try again.')
}

const notUnique = (constraint: string, cause?: unknown) =>
  new ApiError('conflict', 'Another resource already has this value.', {
    details: [
      { in: 'body', path: '', code: 'not_unique', message: 'must be unique', params: { constraint } },
    ],
    cause,
  })

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
