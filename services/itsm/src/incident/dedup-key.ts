import { ApiError } from '@opsplane/contracts'
import { dedupKeyIndex } from '../schema/incident-indexes.js'

/** Whether another open incident has the dedup key. */
export function isDedupKeyConflict(error: unknown): boolean {
  return error instanceof ApiError && error.details[0]?.params?.constraint === dedupKeyIndex
}

export function dedupKeyConflict(incidentId: string | undefined, cause: unknown): ApiError {
  return new ApiError('conflict', 'Another incident with the dedup key of this one is open.', {
    details: [
      {
        in: 'body',
        path: '',
        code: 'not_unique',
        message: 'the dedup key must be unique among open incidents',
        ...(incidentId !== undefined && { params: { incidentId } }),
      },
    ],
    cause,
  })
}
