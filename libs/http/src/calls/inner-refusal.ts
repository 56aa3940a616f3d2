import { ApiError, type ErrorCode, type ErrorDetail, errorTable } from '@opsplane/contracts'
import { validationFailed } from '../route/validation.js'

/** What a service answered to a call of another one that it refused. */
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
 * A call that another service refused, in the terms of that call. No client knows them, so it is answered as a fault of the
 * platform unless `readdress` finds the field of the client's own request.
 */
export class InnerRefusal extends Error {
  override readonly name = 'InnerRefusal'
  readonly service: string
  readonly operation: string
  readonly code: ErrorCode
  readonly details: ErrorDetail[]
  /** What the service said of it. */
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

/** Statuses that mean the same to the client as to the service that called, with the reason. */
const passedOn: Readonly<Record<number, string>> = {
  401: 'The call was made with the token or the grant of the person, which has ended.',
  403: 'The call was made with the rights of the person, which do not suffice.',
  429: 'The call was counted for the workspace of the person, whose budget is used up.',
}

/** The error to throw for a refused call. Faults of the service stay what they are. */
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

/** The field of the client's request that a problem is about, and what else changes of it; undefined for no field. */
type FindAddress = (problem: ErrorDetail) => Partial<ErrorDetail> | undefined

/**
 * The same error with its problems at the fields of the client's request. Of an `InnerRefusal` every problem needs one: else
 * it stays what it is. One without problems has one with the whole inner request, `''` of its body.
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

/** A message that was made of the problems names their fields. */
const messageOf = (message: string, before: { details: ErrorDetail[] }, details: ErrorDetail[]) =>
  message === validationFailed(before.details).message ? validationFailed(details).message : message

/**
 * Addresses by those of the inner request, each written as in `query /filter`: what is below one is below the other. `''` is
 * the address of every other problem.
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
