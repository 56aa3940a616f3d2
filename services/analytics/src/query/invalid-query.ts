import { ApiError } from '@opsplane/contracts'
import { createAddressFinder, InnerRefusal, readdress } from '@opsplane/http'

/** What a query asks for and cannot have. `path` is a JSON pointer within the query. */
export class InvalidQuery extends ApiError {
  constructor(
    readonly pointer: string,
    readonly reason: string,
  ) {
    super('validation_failed', `The query cannot be answered: ${pointer} ${reason}.`, {
      details: [{ in: 'body', path: pointer, code: 'invalid_value', message: reason }],
    })
  }

  /** The same of a query that stands somewhere in a body. */
  within(prefix: string): InvalidQuery {
    return this.at((pointer) => `${prefix}${pointer}`)
  }

  /** The same, by where the fields of the query stand in a body. */
  at(place: (pointer: string) => string): InvalidQuery {
    return new InvalidQuery(place(this.pointer), this.reason)
  }
}

/** Names that could have been meant, as the end of a sentence. */
export const describeChoices = (names: Iterable<string>) => `must be one of ${[...names].join(', ')}`

/** A name as a part of a JSON pointer. */
export const pointerPart = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Runs what may refuse a query, whose fields stand elsewhere in what the caller sent. */
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
 * Throws what the database studio refuses as a fault of the query, whose fields are given by those of the studio's own request
 * (`createAddressFinder`).
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
