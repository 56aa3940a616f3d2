/**
 * Why an attempt came to nothing.
 * `blocked`: the address must not be called. `secret`: a secret is missing or not given out. `unreachable`: DNS, connection or
 * TLS. `timeout`: the deadline passed. `answered`: an answer that says no. `protocol`: one that is not understood. `cancelled`:
 * the caller has gone.
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
  /** Whether what was asked for may have been done. */
  sent: boolean
  /** Of an answer, as HTTP has it. */
  status?: number
  /** What was answered, capped. */
  body?: string
  /** The other side's wish. */
  retryAfterMs?: number
  cause?: unknown
}

/** An attempt that came to nothing. The message is fit for the tenant, after redaction. */
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
