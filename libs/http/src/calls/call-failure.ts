/** Why a call made for a principal, to the platform or another host, failed, with a message for that principal. */
export class CallFailure extends Error {
  readonly retryable: boolean
  readonly details: Record<string, unknown> | undefined

  constructor(
    readonly code: string,
    message: string,
    {
      retryable = false,
      details,
      cause,
    }: { retryable?: boolean; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.retryable = retryable
    this.details = details
  }
}
