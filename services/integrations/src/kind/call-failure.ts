/**
 * The reason an attempt failed.
 * `blocked`: the address must not be called. `secret`: a secret is missing or refused. `unreachable`: DNS, connection or
 * TLS. `timeout`: the deadline passed. `answered`: an error response. `protocol`: a response that cannot be interpreted.
 * `cancelled`: the caller disconnected.
 */
export type FailureKind =
  | 'blocked'
  | 'secret'
  | 'unreachable'
  | 'timeout'
  | 'answered'
  | 'protocol'
  | 'cancelled'

export interface FailureDetails {
  /** Whether the action may have been performed. */
  sent: boolean
  /** HTTP status of the response, or its equivalent. */
  status?: number
  /** Body of the response, truncated. */
  body?: string
  /** Delay requested by the upstream. */
  retryAfterMs?: number
  cause?: unknown
}

/** A failed attempt. The message may be shown to the tenant after redaction. */
export class CallFailure extends Error {
  readonly sent: boolean
  readonly status: number | undefined
  readonly body: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    readonly kind: FailureKind,
    message: string,
    { sent, status, body, retryAfterMs, cause }: FailureDetails,
  ) {
    super(message, { cause })
    this.name = 'CallFailure'
    this.sent = sent
    this.status = status
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}
