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
    // Of one place the message speaks itself.
    const places = found.length > 1 ? found.map((detail) => `${detail.path} ${detail.message}.`) : []
    return { code, message: [message, ...places].join(' ') }
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
  errors: z.array(z.object({ in: z.string(), path: z.string(), code: z.string(), message: z.string() })),
})
type Detail = z.infer<typeof Details>['errors'][number]

const detailsOf = ({ details }: CallFailure): Detail[] => Details.safeParse(details).data?.errors ?? []

/** The answer to an action that has failed; what was wrong names what the browser has sent. */
export function actionError(error: unknown, binding: SourceBinding | undefined): unknown {
  if (!(error instanceof CallFailure)) return error
  const { code, message } = error
  const details = detailsOf(error).map(
    (detail): ErrorDetail => ({
      ...{ in: 'body', path: placeOf(detail, binding), code: detail.code, message: detail.message },
    }),
  )
  const known = answered[code] ?? (isErrorCode(code) ? code : 'upstream_error')
  if (known === 'upstream_error' && !error.retryable) details.push(notRetryableDetail(message))
  return new ApiError(known, message, { details, cause: error })
}

/** Of an answer that is final, though its code may be sent again. */
export const notRetryableDetail = (message: string): ErrorDetail => ({
  ...{ in: 'body', path: '/source', code: 'not_retryable', message },
})

/** Where the browser gave what the platform refuses: the field of a record, or the parameter an input was made of. */
function placeOf({ in: within, path }: Detail, binding: SourceBinding | undefined): string {
  if (binding?.kind !== 'table') return binding ? parameterAt(binding.input, path) : ''
  if (within !== 'body') return '/params'
  const [, field, below] = /^\/operations\/0\/(data|id|version)(\/.*)?$/.exec(path) ?? []
  if (field === undefined) return `/values${path}`
  return field === 'data' ? `/values${below ?? ''}` : `/${field}`
}

/** What a source sends is below `input` or `parameters` of the request that was refused. */
function parameterAt(input: unknown, path: string): string {
  const [, , ...names] = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const template = names.length === 0 ? undefined : valueAt(input, names.join('.'))
  const name = typeof template === 'string' ? /^\{\{\s*params\.(\w+)\s*\}\}$/.exec(template)?.[1] : undefined
  return name === undefined ? '/params' : `/params/${name}`
}
