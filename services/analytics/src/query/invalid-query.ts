import { ApiError } from '@opsplane/contracts'

/** What a query asks for and cannot have. `path` is a JSON pointer within the query. */
export class InvalidQuery extends ApiError {
  constructor(
    readonly pointer: string,
    readonly reason: string,
  ) {
    super('validation_failed', `The query cannot be answered: ${pointer.slice(1)} ${reason}.`, {
      details: [{ in: 'body', path: pointer, code: 'invalid_value', message: reason }],
    })
  }

  /** The same of a query that stands somewhere in a body. */
  within(prefix: string): InvalidQuery {
    return new InvalidQuery(`${prefix}${this.pointer}`, this.reason)
  }
}

/** Names that could have been meant, as the end of a sentence. */
export const oneOf = (names: Iterable<string>) => `must be one of ${[...names].join(', ')}`
