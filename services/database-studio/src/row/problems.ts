import type { ApiError, ErrorDetail } from '@opsplane/contracts'
import { jsonPointer, maxDetails, validationFailed } from '@opsplane/http'

/** Place of a value in a request: a part of the request and a JSON pointer in it. */
export interface Place {
  in: ErrorDetail['in']
  path: string
}

/** Collects validation problems of a request, so that one response reports all of them. */
export class Problems {
  /** Keeps one more than a response lists, to know whether there are more. */
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

  /** Throws `validation_failed` with all problems, if any were added. */
  check(): void {
    if (!this.none) throw validationFailed(this.#details)
  }
}

/** The place of a key below a place. */
export const pathBelow = ({ in: part, path }: Place, key: string | number): Place => ({
  in: part,
  path: `${path}${jsonPointer([key])}`,
})

/** Error for a single problem. */
export const invalidError = ({ in: part, path }: Place, code: string, message: string): ApiError =>
  validationFailed([{ in: part, path, code, message }])
