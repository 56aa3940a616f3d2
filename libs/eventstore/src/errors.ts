import { ApiError, IdempotencyRaceError } from '@opsplane/contracts'
import { isDatabaseAway, translatePostgresError, uniqueViolation } from '@opsplane/postgres'

/** Someone else appended to an aggregate of this commit first: load, decide and commit again. */
export class VersionRaceError extends Error {
  constructor(options?: ErrorOptions) {
    super('an aggregate has changed since it was loaded', options)
    this.name = 'VersionRaceError'
  }
}

/** What was decided rests on something that has changed, while nothing that is written has: If-Match still holds. */
export class RelianceLostError extends VersionRaceError {
  constructor(options?: ErrorOptions) {
    super(options)
    this.name = 'RelianceLostError'
  }
}

/** The append divides and takes roots for nothing else. */
const divisionByZero = '22012'
const rootOfNegative = '2201F'
const retriableStates = new Set(['40001', '40P01', rootOfNegative])

/** What a failed append means for the one commit it was made for. */
export function commitFailure(error: unknown): unknown {
  if (isDatabaseAway(error)) return translatePostgresError(error)
  const constraint = uniqueViolation(error)
  if (constraint === 'idempotency_keys_pkey') return new IdempotencyRaceError({ cause: error })
  if (constraint === 'stream_heads_pkey' || retriableStates.has(sqlState(error)))
    return new VersionRaceError({ cause: error })
  if (sqlState(error) === divisionByZero) return new RelianceLostError({ cause: error })
  if (constraint === undefined) return error
  return new ApiError('conflict', 'Another resource already has this value.', {
    details: [
      { in: 'body', path: '', code: 'not_unique', message: 'must be unique', params: { constraint } },
    ],
    cause: error,
  })
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
