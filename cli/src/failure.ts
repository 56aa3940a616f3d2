import type { ErrorEnvelope } from '@opsplane/contracts'

/** 1: the command failed, or its result is negative. 2: wrong usage, or no platform is configured. 3: a retry may succeed. */
export type FailureCode = 1 | 2 | 3

/** An error that is reported in one line, with the exit code of the CLI. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: FailureCode,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export const usageError = (message: string) => new CliError(message, 2)

/** The platform did not respond, or its response was cut off. */
export class UnreachableError extends CliError {
  constructor(message: string, cause?: unknown) {
    super(message, 3, { cause })
  }
}

/** An error response of the API. */
export class ApiFailure extends CliError {
  readonly code: string
  readonly retryable: boolean
  readonly details: ErrorEnvelope['error']['details']

  constructor(
    { error, meta }: ErrorEnvelope,
    readonly retryAfterMs: number | undefined,
  ) {
    super(`${withDetails(error)} [${error.code}, request ${meta.requestId}]`, error.retryable ? 3 : 1)
    this.code = error.code
    this.retryable = error.retryable
    this.details = error.details
  }
}

export function isRetryable(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ApiFailure && error.retryable)
}

function withDetails({ message, details }: ErrorEnvelope['error']): string {
  const places = details.map((detail) => `${detail.in} ${detail.path || '/'}: ${detail.message}`)
  return places.length === 0 ? message : `${message} (${places.join('; ')})`
}
