import { ApiError } from '@opsplane/contracts'

/** Records are not any more as they were validated: nothing was written. */
export class StaleValidationError extends Error {
  constructor() {
    super('records have changed since they were validated')
  }
}

const maxAttempts = 3

/** Validates and writes again where the records have changed in between. Throws `version_conflict` if that goes on. */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StaleValidationError)) throw error
      if (attempt >= maxAttempts)
        throw new ApiError('version_conflict', 'The records keep changing. Try again.')
    }
  }
}
