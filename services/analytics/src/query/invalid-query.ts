import { ApiError } from '@opsplane/contracts'
import { createAddressFinder, InnerRefusal, readdress } from '@opsplane/http'

/** An invalid part of a query. `pointer` is a JSON pointer within the query. */
export class InvalidQuery extends ApiError {
  constructor(
    readonly pointer: string,
    readonly reason: string,
  ) {
    super('validation_failed', `The query cannot be answered: ${pointer} ${reason}.`, {
      details: [{ in: 'body', path: pointer, code: 'invalid_value', message: reason }],
    })
  }

  /** The same error for a query located at a prefix within a body. */
  within(prefix: string): InvalidQuery {
    return this.at((pointer) => `${prefix}${pointer}`)
  }

  /** The same error with the pointer mapped to its place in a body. */
  at(place: (pointer: string) => string): InvalidQuery {
    return new InvalidQuery(place(this.pointer), this.reason)
  }
}

/** Lists the valid names, as the end of a sentence. */
export const describeChoices = (names: Iterable<string>) => `must be one of ${[...names].join(', ')}`

/** Escapes a name for use in a JSON pointer. */
export const pointerPart = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Runs a function and maps the pointers of `InvalidQuery` errors to their place in the caller's body. */
export async function mapQueryPointer<Result>(
  place: (pointer: string) => string,
  run: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof InvalidQuery ? error.at(place) : error
  }
}

/**
 * Rethrows a rejection by the database studio as an error of the query, mapping the fields of the request sent to the
 * studio to those of the query (`createAddressFinder`).
 */
export const refuseQuery = (addresses: Readonly<Record<string, string>>) => {
  const find = createAddressFinder(addresses)
  return (error: unknown): never => {
    if (!(error instanceof InnerRefusal) || error.retryable) throw error
    const placed = readdress(error, find)
    const [detail] = placed instanceof ApiError ? placed.details : []
    if (!detail) throw error
    const isAbsent = error.code === 'not_found'
    throw new InvalidQuery(
      detail.path,
      isAbsent ? 'names nothing that is here for the caller to read' : detail.message,
    )
  }
}
