import { isUtf8 } from 'node:buffer'
import { ApiError, type ArtifactApi, type JsonValue } from '@opsplane/contracts'
import { isJson, type RawRequest, readJson } from '@opsplane/http'

/** Headers passed to every artifact; an artifact may name further ones. */
const shownHeaders = ['accept', 'accept-language', 'content-type', 'user-agent']
const maxHeaderBytes = 8_192

/** A request as passed to the artifact: `ApiRequest` of `@opsplane/sdk`. */
export interface ArtifactRequest {
  method: string
  path: string
  segments: string[]
  query: Record<string, string | string[]>
  headers: Record<string, string>
  body: JsonValue
}

/**
 * Builds the request passed to the artifact. Throws `unsupported_media_type`, `malformed_json` and `headers_too_large`;
 * `URIError` if the path is not correctly percent-encoded.
 * @param segmentsBefore number of path segments before the artifact's own path
 */
export function buildArtifactRequest(
  request: RawRequest,
  { headers: named }: Pick<ArtifactApi, 'headers'>,
  segmentsBefore: number,
): ArtifactRequest {
  const segments = request.path
    .split('/')
    .slice(1 + segmentsBefore)
    .map(decodeURIComponent)
  if (segments.at(-1) === '') segments.pop()
  return {
    method: request.method,
    path: `/${segments.join('/')}`,
    segments,
    query: request.query,
    headers: headersOf(request, [...shownHeaders, ...named]),
    body: bodyOf(request),
  }
}

function headersOf({ headers }: RawRequest, names: readonly string[]): Record<string, string> {
  const shown = names.flatMap((name): [string, string][] => {
    const value = headers[name]
    return value === undefined ? [] : [[name, [value].flat().join(', ')]]
  })
  const tooLong = shown.find(([, value]) => value.length > maxHeaderBytes)
  if (tooLong)
    throw new ApiError('headers_too_large', `${tooLong[0]} may have at most ${maxHeaderBytes} characters.`)
  return Object.fromEntries(shown)
}

const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const textType = /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?xml)\s*(?:;|$)/i

/** Parses JSON and forms; returns other text unchanged, and `null` for an empty body. */
function bodyOf({ body, headers: { 'content-type': type } }: RawRequest): JsonValue {
  if (body.length === 0) return null
  // Parsed from JSON.
  if (isJson(type)) return readJson(body) as JsonValue
  const isForm = formType.test(type ?? '')
  if (!(isForm || textType.test(type ?? '')) || !isUtf8(body) || body.includes(0))
    throw new ApiError('unsupported_media_type', 'The body must be JSON, a form, or text in UTF-8.')
  return isForm ? formOf(body.toString()) : body.toString()
}

/** The same limit as for an array in JSON. */
const maxFields = 10_000

function formOf(text: string): JsonValue {
  const fields = new Map<string, string[]>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > maxFields)
      throw new ApiError('validation_failed', `The form has more than ${maxFields} fields.`, {
        details: [{ in: 'body', path: '', code: 'too_big', message: `may have at most ${maxFields} fields` }],
      })
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  )
}
