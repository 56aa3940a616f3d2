import { ApiError, IdempotencyRaceError } from '@opsplane/contracts'
import { isDatabaseUnavailable, translatePostgresError, uniqueViolation } from '@opsplane/postgres'

/** Someone else appended to an aggregate of this commit first: load, decide and commit again. */
export class VersionRaceError extends Error {
  constructor(options?: ErrorOptions) {
    super('an aggregate has changed since it was loaded', options)
    this.name = 'VersionRaceError'
  }
}

/** What was decided rests on something that has changed, while nothing that is written has: If-Match still holds. */
export class DependencyChangedError extends VersionRaceError {
  constructor(options?: ErrorOptions) {
    super(options)
    this.name = 'DependencyChangedError'
  }
}

const retriableStates = new Set(['40001', '40P01'])

/** What a failed append means for the one commit it was made for. */
export function commitFailure(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return translatePostgresError(error)
  const constraint = uniqueViolation(error)
  if (constraint === 'idempotency_keys_pkey') return new IdempotencyRaceError({ cause: error })
  if (constraint === 'stream_heads_pkey' || retriableStates.has(sqlState(error)))
    return new VersionRaceError({ cause: error })
  return constraint === undefined ? error : notUnique(constraint, error)
}

/** What it means for a commit that the append has not written it, by the verdict: see `Verdicts`. */
export function verdictFailure(verdict: string): Error {
  const [kind, index] = verdict.split(':')
  if (kind === 'key') return new IdempotencyRaceError()
  if (kind === 'relied') return new DependencyChangedError()
  return index === undefined ? new VersionRaceError() : notUnique(index)
}

/** Where others have won every race for it. */
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
