import { ApiError, type ErrorCode, type ErrorDetail, errorTable } from '@opsplane/contracts'
import { validationFailed } from '../route/validation.js'

/** Error response of a service to a call of another service. */
interface Refusal {
  service: string
  /** Method and path, without the query. */
  operation: string
  code: ErrorCode
  message: string
  details: ErrorDetail[]
  retryAfter: string | undefined
}

/**
 * A call that another service rejected, described in the terms of that call. Clients do not know these, so it is
 * answered as a fault of the platform unless `readdress` finds the field of the client's own request.
 */
export class InnerRefusal extends Error {
  override readonly name = 'InnerRefusal'
  readonly service: string
  readonly operation: string
  readonly code: ErrorCode
  readonly details: ErrorDetail[]
  /** The message of the service. */
  readonly reason: string

  constructor({ service, operation, code, message, details }: Refusal) {
    super(
      `${service} refused ${operation} with ${[code, ...details.slice(0, maxLogged).map(placeOf)].join(', ')}`,
    )
    this.service = service
    this.operation = operation
    this.code = code
    this.details = details
    this.reason = message
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable
  }
}

const maxLogged = 5
const placeOf = ({ in: place, path, code }: ErrorDetail) => `${place} ${path} ${code}`

/** Statuses that mean the same to the client as to the calling service, with the reason. */
const passedOn: Readonly<Record<number, string>> = {
  401: 'The call was made with the token or the grant of the person, which has ended.',
  403: 'The call was made with the rights of the person, which do not suffice.',
  429: 'The call was counted for the workspace of the person, whose budget is used up.',
}

/** The error to throw for a rejected call. Server errors (5xx) are passed on unchanged. */
export function toRefusalError(refusal: Refusal): ApiError | InnerRefusal {
  const { code, message, details, retryAfter } = refusal
  const { status } = errorTable[code]
  if (status < 500 && !Object.hasOwn(passedOn, status)) return new InnerRefusal(refusal)
  return new ApiError(code, message, {
    details: details.map((detail) => ({ ...detail, path: '' })),
    headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
  })
}

/** A field of a request. */
type Address = Pick<ErrorDetail, 'in' | 'path'>

/**
 * Maps a problem to the field of the client's request and any other changed properties;
 * `undefined` if there is no such field.
 */
type FindAddress = (problem: ErrorDetail) => Partial<ErrorDetail> | undefined

/**
 * Maps the problems of an error to fields of the client's request. For an `InnerRefusal` every problem
 * must be mapped, otherwise the error is returned unchanged. An `InnerRefusal` without problems counts
 * as one problem with the whole inner body (`''`).
 */
export function readdress(
  error: unknown,
  find: FindAddress,
  { code, message }: { code?: ErrorCode; message?: string } = {},
): unknown {
  if (error instanceof ApiError) {
    const details = error.details.map((detail) => ({ ...detail, ...find(detail) }))
    const { headers } = error
    const options = { details, headers, cause: error }
    return new ApiError(code ?? error.code, message ?? messageOf(error.message, error, details), options)
  }
  if (!(error instanceof InnerRefusal)) return error
  const whole: ErrorDetail = { in: 'body', path: '', code: error.code, message: error.reason }
  const problems = error.details.length > 0 ? error.details : [whole]
  const found = problems.map((detail) => {
    const address = find(detail)
    return address && { ...detail, ...address }
  })
  const details = found.filter((detail) => detail !== undefined)
  if (details.length < found.length) return error
  return new ApiError(code ?? error.code, message ?? messageOf(error.reason, error, details), {
    details,
    cause: error,
  })
}

/** If the message was derived from the problems, it is derived again from the renamed fields. */
const messageOf = (message: string, before: { details: ErrorDetail[] }, details: ErrorDetail[]) =>
  message === validationFailed(before.details).message ? validationFailed(details).message : message

/**
 * `table` maps addresses of the inner request to those of the client's, each written as in `query /filter`; paths below
 * an address map along with it. `''` matches every other problem.
 */
export function createAddressFinder(table: Readonly<Record<string, string>>): FindAddress {
  const entries = Object.entries(table).map(([inner, outer]) => [parsed(inner), parsed(outer)] as const)
  return ({ in: place, path }) => {
    for (const [inner, outer] of entries) {
      if (inner.in === '') return outer as Address
      const below = path.slice(inner.path.length)
      if (inner.in === place && path.startsWith(inner.path) && (below === '' || below.startsWith('/')))
        return { in: outer.in as Address['in'], path: `${outer.path}${below}` }
    }
    return undefined
  }
}

function parsed(address: string): { in: string; path: string } {
  const [place = '', path = ''] = address.split(' ')
  return { in: place, path }
}
