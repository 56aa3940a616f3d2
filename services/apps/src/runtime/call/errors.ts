import {
  ApiError,
  type ErrorCode,
  type ErrorDetail,
  errorTable,
  type SourceBinding,
  valueAt,
} from '@opsplane/contracts'
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
    const found = error instanceof CallFailure ? detailsOf(error) : []
    // With a single detail, the message already describes it.
    const places = found.length > 1 ? found.map((detail) => `${detail.path} ${detail.message}.`) : []
    return { code, message: [message, ...places].join(' ') }
  }
  log.error({ err: error }, 'a data source of an app has failed')
  return { code: 'internal_error', message: 'The data source has failed.' }
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** Maps internal codes of platform calls to codes of the API. */
const publicCodes: Readonly<Record<string, ErrorCode>> = {
  rights_gone: 'forbidden',
  unknown_operation: 'service_unavailable',
}

const Details = z.object({
  errors: z.array(z.object({ in: z.string(), path: z.string(), code: z.string(), message: z.string() })),
})
type Detail = z.infer<typeof Details>['errors'][number]

const detailsOf = ({ details }: CallFailure): Detail[] => Details.safeParse(details).data?.errors ?? []

/** The error response for a failed action. Its details refer to the fields that the browser sent. */
export function actionError(error: unknown, binding: SourceBinding | undefined): unknown {
  if (!(error instanceof CallFailure)) return error
  const { code, message } = error
  const details = detailsOf(error).map(
    (detail): ErrorDetail => ({
      ...{ in: 'body', path: placeOf(detail, binding), code: detail.code, message: detail.message },
    }),
  )
  const known = publicCodes[code] ?? (isErrorCode(code) ? code : 'upstream_error')
  if (known === 'upstream_error' && !error.retryable) details.push(notRetryableDetail(message))
  return new ApiError(known, message, { details, cause: error })
}

/** Detail for a final error whose code would otherwise allow a retry. */
export const notRetryableDetail = (message: string): ErrorDetail => ({
  ...{ in: 'body', path: '/source', code: 'not_retryable', message },
})

/**
 * Path of the rejected value in the browser's request: the field of a record, or the parameter that an input was
 * built from.
 */
function placeOf({ in: within, path }: Detail, binding: SourceBinding | undefined): string {
  if (binding?.kind !== 'table') return binding ? parameterAt(binding.input, path) : ''
  if (within !== 'body') return '/params'
  const [, field, below] = /^\/operations\/0\/(data|id|version)(\/.*)?$/.exec(path) ?? []
  if (field === undefined) return `/values${path}`
  return field === 'data' ? `/values${below ?? ''}` : `/${field}`
}

/** The source's values are located below `input` or `parameters` in the rejected request. */
function parameterAt(input: unknown, path: string): string {
  const [, , ...names] = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const template = names.length === 0 ? undefined : valueAt(input, names.join('.'))
  const name = typeof template === 'string' ? /^\{\{\s*params\.(\w+)\s*\}\}$/.exec(template)?.[1] : undefined
  return name === undefined ? '/params' : `/params/${name}`
}
