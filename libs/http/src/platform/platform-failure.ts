/** What a call of the platform in somebody's name has failed with, as whoever made it may see it. */
export class PlatformFailure extends Error {
  readonly retryable: boolean
  readonly details: Record<string, unknown> | undefined

  constructor(
    readonly code: string,
    message: string,
    { retryable = false, details }: { retryable?: boolean; details?: Record<string, unknown> } = {},
  ) {
    super(message)
    this.retryable = retryable
    this.details = details
  }
}
