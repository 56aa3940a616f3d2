import type { components } from './schema.js'

type ErrorBody = components['schemas']['ErrorEnvelope']
export type ErrorCode = ErrorBody['error']['code']
export type ErrorDetail = components['schemas']['ErrorDetail']

/** An unsuccessful answer of the API. */
export class OpsplaneError extends Error {
  /** Of the table of codes in the documentation; undefined when something in between answered, such as a proxy. */
  readonly code: ErrorCode | undefined
  /** What is wrong where in the request. */
  readonly details: readonly ErrorDetail[]
  /** By which the operators find the request in their log. */
  readonly requestId: string | undefined
  /** Whether the same request may succeed when sent again. */
  readonly retryable: boolean

  constructor(
    readonly status: number,
    body: unknown,
    readonly response: Response,
  ) {
    const known = isErrorBody(body) ? body : undefined
    super(known?.error.message ?? `The API answered ${status}.`)
    this.name = 'OpsplaneError'
    this.code = known?.error.code
    this.details = known?.error.details ?? []
    this.requestId = known?.meta.requestId ?? response.headers.get('x-request-id') ?? undefined
    this.retryable = known?.error.retryable ?? retryableStatuses.has(status)
  }
}

/** Of answers that do not say it themselves. */
const retryableStatuses = new Set([429, 502, 503, 504])

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body) || !('meta' in body)) return false
  const { error, meta } = body
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    'details' in error &&
    Array.isArray(error.details) &&
    typeof meta === 'object' &&
    meta !== null
  )
}
