import { ApiError, errorBody } from '@opsplane/contracts'
import { InnerRefusal } from '../calls/inner-refusal.js'
import { type Exchange, logRequest, send } from './exchange.js'

/**
 * Maps a thrown value to an ApiError; anything unknown becomes an internal error without details. A call rejected by
 * another service becomes an internal error too, or `upstream_error` if a retry may succeed.
 */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof URIError) return malformedUrl()
  if (error instanceof InnerRefusal && error.retryable)
    return new ApiError('upstream_error', `${error.service} did not accept its part of this. Try again.`, {
      cause: error,
    })
  return new ApiError(
    'internal_error',
    'Something went wrong on our side. The request id finds it in our log.',
    {
      cause: error,
    },
  )
}

export function malformedUrl(): ApiError {
  return new ApiError('malformed_url', 'The URL is not correctly percent-encoded.')
}

/** Response headers of an error: its own, completed by those its code requires. */
function errorHeaders(error: ApiError): Record<string, string> {
  return { ...demandedHeaders(error), ...error.headers }
}

function demandedHeaders(error: ApiError): Record<string, string> {
  switch (error.code) {
    case 'unauthenticated':
    case 'invalid_credentials':
    case 'factor_required':
      return { 'WWW-Authenticate': 'Bearer' }
    case 'invalid_token':
    case 'token_expired':
      return { 'WWW-Authenticate': 'Bearer error="invalid_token"' }
    case 'rate_limited':
    case 'service_unavailable':
    case 'idempotency_in_progress':
      return { 'Retry-After': '1' }
    default:
      return {}
  }
}

/** Names or codes of the errors with which reads, writes and signals fail after their connection was closed. */
const closings = new Set(['AbortError', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
const maxCauses = 10

/**
 * Whether a request failed because its client closed the connection: this is no fault of the platform, and no response
 * can be sent. Any other failure remains an error, even if the client has disconnected.
 */
function endedByClient({ res }: Exchange, thrown: unknown): boolean {
  if (!res.destroyed || res.writableFinished) return false
  let cause = thrown
  for (let depth = 0; cause instanceof Error && depth < maxCauses; depth += 1) {
    if (closings.has(cause.name) || ('code' in cause && closings.has(String(cause.code)))) return true
    cause = cause.cause
  }
  return false
}

/** The only place that answers errors. An error that is no ApiError is logged with its stack and never sent. */
export function sendError(exchange: Exchange, thrown: unknown): void {
  const { res, requestId, log, route } = exchange
  if (endedByClient(exchange, thrown)) {
    logRequest(exchange, 499)
    return
  }
  const error = toApiError(thrown)
  const cause = error === thrown ? error.cause : thrown
  if (error.status >= 500 && cause !== undefined) {
    log[error.code === 'internal_error' ? 'error' : 'warn']({ err: cause, requestId, route }, error.message)
  }
  if (res.headersSent || res.destroyed) {
    res.destroy()
    logRequest(exchange, 499)
    return
  }
  const { error: body } = errorBody(error, requestId)
  send(exchange, { status: error.status, body: { error: body }, headers: errorHeaders(error) })
}
