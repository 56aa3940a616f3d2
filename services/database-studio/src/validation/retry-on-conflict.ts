import { ApiError } from '@opsplane/contracts'

/** Records have changed since their validation; nothing was written. */
export class StaleValidationError extends Error {
  constructor() {
    super('records have changed since they were validated')
  }
}

const maxAttempts = 3

/** Repeats validation and write if records changed in between. Throws `version_conflict` if that keeps happening. */
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
