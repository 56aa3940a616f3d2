/** Why a call in somebody's name, of the platform or of another host, was not answered as it should, in words for them. */
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
