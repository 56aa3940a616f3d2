import { ApiError, type ErrorDetail } from '@opsplane/contracts'
import type { Fault } from './schema.js'

/** More are not told of: who has that many begins anew anyway. */
const maxDetails = 100

/** Throws validation_failed with every fault, each with the place in the data and in the schema. */
export function checkFaults(faults: readonly Fault[], message: string): void {
  if (faults.length === 0) return
  const details = faults
    .slice(0, maxDetails)
    .map(
      ({ path, schemaPath, ...told }): ErrorDetail => ({ in: 'body', path, ...told, params: { schemaPath } }),
    )
  throw new ApiError('validation_failed', message, { details })
}
