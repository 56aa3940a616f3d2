/** All error codes with their status and whether the same request may succeed when it is retried. */
export const errorTable = {
  malformed_json: { status: 400, retryable: false },
  malformed_url: { status: 400, retryable: false },
  invalid_cursor: { status: 400, retryable: false },
  workspace_required: { status: 400, retryable: false },
  idempotency_key_invalid: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  invalid_token: { status: 401, retryable: false },
  token_expired: { status: 401, retryable: false },
  invalid_credentials: { status: 401, retryable: false },
  factor_required: { status: 401, retryable: false },
  insufficient_scope: { status: 403, retryable: false },
  step_up_required: { status: 403, retryable: false },
  factor_enrolment_required: { status: 403, retryable: false },
  forbidden: { status: 403, retryable: false },
  workspace_forbidden: { status: 403, retryable: false },
  environment_forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  route_not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  request_timeout: { status: 408, retryable: true },
  conflict: { status: 409, retryable: false },
  invalid_state_transition: { status: 409, retryable: false },
  version_conflict: { status: 409, retryable: true },
  idempotency_in_progress: { status: 409, retryable: true },
  precondition_failed: { status: 412, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  range_not_satisfiable: { status: 416, retryable: false },
  validation_failed: { status: 422, retryable: false },
  idempotency_key_reused: { status: 422, retryable: false },
  quota_exceeded: { status: 422, retryable: false },
  precondition_required: { status: 428, retryable: false },
  rate_limited: { status: 429, retryable: true },
  headers_too_large: { status: 431, retryable: false },
  internal_error: { status: 500, retryable: false },
  upstream_error: { status: 502, retryable: true },
  service_unavailable: { status: 503, retryable: true },
  upstream_timeout: { status: 504, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>

export type ErrorCode = keyof typeof errorTable

export const errorCodes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]

/** Location of a problem in a request, as a JSON pointer below `in`. */
export interface ErrorDetail {
  in: 'body' | 'query' | 'path' | 'header'
  path: string
  code: string
  message: string
  params?: Record<string, unknown>
}

interface ApiErrorOptions {
  details?: ErrorDetail[]
  /** Response headers the code requires, such as Retry-After. */
  headers?: Record<string, string>
  cause?: unknown
}

/** The only error that is returned to clients unchanged; any other is answered as `internal_error`. */
export class ApiError extends Error {
  readonly details: ErrorDetail[]
  readonly headers: Record<string, string>

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return errorTable[this.code].status
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable
  }
}

/** Identical for an id of another tenant, a malformed id and an unknown id, so that the answer reveals nothing. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such resource in this workspace and environment.')
}

/** The id of a create command is in use. `type`: the kind of resource in words, such as `change`. */
export function alreadyExists(type: string): ApiError {
  const article = /^[aeio]/.test(type) ? 'An' : 'A'
  return new ApiError('conflict', `${article} ${type} with this id already exists.`)
}

/** The action does not apply to the resource's current status. `hint`: a sentence on what to do instead. */
export function invalidTransition(
  action: string,
  from: string,
  allowed: readonly string[],
  hint?: string,
): ApiError {
  const list = allowed.length > 0 ? allowed.join(', ') : 'none'
  return new ApiError(
    'invalid_state_transition',
    `Cannot ${action} while ${from}. Allowed actions: ${list}.${hint === undefined ? '' : ` ${hint}`}`,
    {
      details: [
        {
          in: 'body',
          path: '',
          code: 'invalid_state_transition',
          message: `Allowed: ${list}.`,
          params: { from, action, allowed },
        },
      ],
    },
  )
}

/** A body field that passed its schema but violates a rule a schema cannot express. */
export function invalidField(path: string, code: string, message: string): ApiError {
  return new ApiError('validation_failed', message, { details: [{ in: 'body', path, code, message }] })
}
