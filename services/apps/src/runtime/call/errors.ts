import { ApiError, type ErrorCode, type ErrorDetail, errorTable } from '@opsplane/contracts'
import { CallFailure } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { z } from 'zod'

interface PartError {
  code: string
  message: string
}

/** The error of one part of a page. */
export function partError(error: unknown, log: Logger): PartError {
  if (error instanceof ApiError || error instanceof CallFailure) {
    const { code, message } = error
    return { code, message }
  }
  log.error({ err: error }, 'a data source of an app has failed')
  return { code: 'internal_error', message: 'The data source has failed.' }
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** Codes of the platform's calls that no answer has. */
const answered: Readonly<Record<string, ErrorCode>> = {
  rights_gone: 'forbidden',
  unknown_operation: 'service_unavailable',
}

const Details = z.object({
  errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
})

/** The answer to an action that has failed; what was wrong with a record's fields names the values of the form. */
export function actionError(error: unknown): unknown {
  if (!(error instanceof CallFailure)) return error
  const { code, message } = error
  const { data } = Details.safeParse(error.details)
  const details = (data?.errors ?? []).map(
    ({ path, ...detail }): ErrorDetail => ({ in: 'body', path: placeOf(path), ...detail }),
  )
  const known = answered[code] ?? (isErrorCode(code) ? code : 'upstream_error')
  if (known === 'upstream_error' && !error.retryable) details.push(notRetryable(message))
  return new ApiError(known, message, { details, cause: error })
}

/** Of an answer that is final, though its code may be sent again. */
export const notRetryable = (message: string): ErrorDetail => ({
  ...{ in: 'body', path: '/source', code: 'not_retryable', message },
})

/** A field of a record is one of `values`, in whatever request of the database studio it stands. */
function placeOf(path: string): string {
  const inBatch = /^\/operations\/0\/data(\/.*)$/.exec(path)?.[1]
  return `/values${inBatch ?? path}`
}
