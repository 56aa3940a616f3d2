import type { ApiError, ErrorDetail } from '@opsplane/contracts'
import { jsonPointer, maxDetails, validationFailed } from '@opsplane/http'

/** Where a value of a request stands, as a JSON pointer below one of its parts. */
export interface Place {
  in: ErrorDetail['in']
  path: string
}

/** Collects what is wrong with a request, so that all of it is answered at once. */
export class Problems {
  /** One more than an answer names says that there are more. */
  readonly #details: ErrorDetail[] = []

  add({ in: part, path }: Place, code: string, message: string): void {
    if (!this.full) this.#details.push({ in: part, path, code, message })
  }

  get details(): readonly ErrorDetail[] {
    return this.#details.slice(0, maxDetails)
  }

  get full(): boolean {
    return this.#details.length > maxDetails
  }

  get none(): boolean {
    return this.#details.length === 0
  }

  /** Throws `validation_failed` with everything that was added, if anything was. */
  check(): void {
    if (!this.none) throw validationFailed(this.#details)
  }
}

/** The place of a key below a place. */
export const pathBelow = ({ in: part, path }: Place, key: string | number): Place => ({
  in: part,
  path: `${path}${jsonPointer([key])}`,
})

/** One problem alone, as an error to throw. */
export const invalidError = ({ in: part, path }: Place, code: string, message: string): ApiError =>
  validationFailed([{ in: part, path, code, message }])
