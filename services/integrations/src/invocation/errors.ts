import { ApiError, type ErrorDetail } from '@opsplane/contracts'
import type { CallFailure } from '../kind/call-failure.js'

const keptOfBody = 4_096

/** The API error for a failed use of a connector; `redact` removes secrets from the upstream's response. */
export function toApiError(
  failure: CallFailure,
  redact: (text: string, cutOff?: boolean) => string,
  context: { invocationId?: string; attempts?: number } = {},
): ApiError {
  const { kind, status, body, retryAfterMs } = failure
  const message = redact(failure.message)
  const cutOff = (body?.length ?? 0) > keptOfBody
  const params = {
    ...context,
    ...(status !== undefined && { status }),
    ...(body !== undefined && { body: redact(body.slice(0, keptOfBody), cutOff) }),
  }
  const detail: ErrorDetail = { in: 'path', path: '/id', code: kind, message, params }
  const wait = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) }
  return new ApiError(codes[kind], sentences[kind](message), {
    details: [detail],
    headers: wait,
    cause: failure,
  })
}

const codes = {
  blocked: 'validation_failed',
  secret: 'conflict',
  unreachable: 'upstream_error',
  answered: 'upstream_error',
  protocol: 'upstream_error',
  cancelled: 'upstream_error',
  timeout: 'upstream_timeout',
} as const

const sentences: Record<CallFailure['kind'], (message: string) => string> = {
  blocked: (message) => `The connector leads where nothing is called: ${message}`,
  secret: (message) => `Nothing was sent: ${message}`,
  unreachable: (message) => `What the connector leads to cannot be reached: ${message}`,
  answered: (message) => `What the connector leads to refused: ${message}`,
  protocol: (message) => `What the connector leads to gave an answer that is not understood: ${message}`,
  cancelled: (message) => message,
  timeout: (message) => message,
}
