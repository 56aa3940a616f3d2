import type { ErrorEnvelope } from '@opsplane/contracts'

/** 1: the answer is no. 2: wrong usage, or nothing says which platform. 3: trying again later may help. */
export type FailureCode = 1 | 2 | 3

/** An error that is reported in one line, and the exit code it ends the tool with. */
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

/** The platform did not answer, or its answer was cut off. */
export class UnreachableError extends CliError {
  constructor(message: string, cause?: unknown) {
    super(message, 3, { cause })
  }
}

/** What the API answered instead of a result. */
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
