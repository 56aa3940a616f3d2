import { ApiError, type ErrorDetail } from '@opsplane/contracts'

/** Where a value of a request stands, as a JSON pointer below one of its parts. */
export interface Place {
  in: ErrorDetail['in']
  path: string
}

const told = 100

/** Collects what is wrong with a request, so that all of it is answered at once. */
export class Problems {
  readonly #details: ErrorDetail[] = []
  #more = false

  add({ in: part, path }: Place, code: string, message: string): void {
    if (this.#details.length < told) this.#details.push({ in: part, path, code, message })
    else this.#more = true
  }

  get details(): readonly ErrorDetail[] {
    return this.#details
  }

  get full(): boolean {
    return this.#more
  }

  get none(): boolean {
    return this.#details.length === 0
  }

  /** Throws `validation_failed` with everything that was added, if anything was. */
  check(): void {
    const [first] = this.#details
    if (!first) return
    const places = this.#more ? `more than ${told}` : this.#details.length
    const message =
      this.#details.length === 1
        ? `The request is not valid: ${first.in}${first.path.replaceAll('/', '.')} ${first.message}.`
        : `The request is not valid in ${places} places.`
    throw new ApiError('validation_failed', message, { details: this.#details })
  }
}

/** The place of a key below a place. */
export const below = ({ in: part, path }: Place, key: string | number): Place => ({
  in: part,
  path: `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`,
})

/** One problem alone, as an error to throw. */
export function invalid(place: Place, code: string, message: string): ApiError {
  const problems = new Problems()
  problems.add(place, code, message)
  try {
    problems.check()
  } catch (error) {
    return error as ApiError
  }
  throw new Error('a problem was added')
}
