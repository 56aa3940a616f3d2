import { ApiError, type Execution, type JsonValue } from '@opsplane/contracts'
import type { RawAnswer } from '@opsplane/http'
import { z } from 'zod'
import type { OutputFault } from '../invoke/request.js'

const maxHeaders = 30
const maxHeaderLength = 2_048

/** Response headers an artifact may set; none that makes a browser store, trust or execute anything. */
const headerName =
  /^(?:content-type|content-language|content-disposition|link|location|retry-after|x-artifact-[a-z0-9-]{1,80})$/
/** A path of this API only, so that redirects cannot lead elsewhere. */
const place = /^\/(?![/\\])/

const Header = z
  .string()
  .max(maxHeaderLength, `must be at most ${maxHeaderLength} characters`)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')

/** `ApiResponse` of `@opsplane/sdk`. */
const Answer = z.strictObject({
  status: z.int().min(200).max(599).default(200),
  headers: z
    .record(z.string(), Header)
    .superRefine((headers, context) => {
      const wrong = (name: string, message: string) =>
        context.addIssue({ code: 'custom', path: [name], message })
      const names = Object.keys(headers)
      if (names.length > maxHeaders)
        context.addIssue({ code: 'custom', message: `must be at most ${maxHeaders} headers` })
      for (const name of names)
        if (!headerName.test(name.toLowerCase())) wrong(name, 'is no header an artifact may answer with')
      for (const [name, value] of Object.entries(headers))
        if (name.toLowerCase() === 'location' && !place.test(value)) wrong(name, 'must be a path of this API')
    })
    .default({}),
  body: z.unknown().optional(),
})

/** Returns the first reason why an artifact's output is not a valid response. */
export function findResponseFault(output: JsonValue): OutputFault | undefined {
  const issue = Answer.safeParse(output).error?.issues[0]
  return issue && { path: issue.path.map((key) => `/${String(key)}`).join(''), message: issue.message }
}

/**
 * Builds the response to a request. `isRepeated`: the request was a repetition. Throws for an execution that has not
 * completed.
 */
export function buildResponse(execution: Execution, isRepeated: boolean): RawAnswer {
  const shown = { 'X-Execution-ID': execution.id, ...(isRepeated && { 'Idempotency-Replayed': 'true' }) }
  if (execution.status !== 'completed') throw failureOf(execution, shown)
  const { status, headers, body = null } = Answer.parse(execution.output)
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  const isEmpty = body === null || status === 204 || status === 205 || status === 304
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    status,
    headers: { ...(!isEmpty && { 'content-type': type }), ...own, ...shown },
    body: isEmpty ? null : isText ? body : JSON.stringify(body),
  }
}

/** Error codes of executions whose code was not run, or was stopped by the platform. */
const notItsOwn = new Set(['interrupted', 'sandbox_unavailable', 'artifact_removed'])

function failureOf({ id, status, error }: Execution, headers: Record<string, string>): ApiError {
  const code = error?.code ?? status
  const options = {
    headers,
    details: [
      {
        ...{ in: 'path' as const, path: '', code, message: error?.message ?? `The execution is ${status}.` },
        params: { executionId: id },
      },
    ],
  }
  if (status === 'timeout')
    return new ApiError('upstream_timeout', 'The artifact did not answer in time.', options)
  if (status !== 'failed' || notItsOwn.has(code))
    return new ApiError('service_unavailable', 'The artifact did not finish.', options)
  return new ApiError('upstream_error', 'The artifact has failed.', options)
}
