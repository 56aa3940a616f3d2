import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiError, parseExact } from '@opsplane/contracts'
import { boundedBytes, checkBounds } from './json-bounds.js'
import { checkJson } from './json-check.js'

const jsonType = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i

/** The parsed JSON body, or `undefined` if there is none. Throws 413, 415, `malformed_json`, `validation_failed`. */
export async function readJsonBody(req: IncomingMessage, limitBytes: number): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding === undefined && (length === undefined || length === '0')) return undefined
  if (!isJson(req.headers['content-type']))
    throw new ApiError('unsupported_media_type', 'The body must be application/json in UTF-8.')
  const bytes = await readBody(req, limitBytes)
  return bytes.length === 0 ? undefined : readJson(bytes)
}

/** Whether a Content-Type is JSON in UTF-8. */
export const isJson = (type: string | undefined): boolean =>
  type === 'application/json' || jsonType.test(type ?? '')

/** The raw body, empty if there is none. Throws 413, and 415 if it is compressed. */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { 'content-length': length, 'content-encoding': coding = 'identity' } = req.headers
  if (coding !== 'identity')
    throw new ApiError('unsupported_media_type', 'A compressed body is not accepted.')
  if (Number(length) > limitBytes) throw tooLarge(limitBytes)
  return readBytes(req, limitBytes)
}

function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) reject(tooLarge(limitBytes))
      else chunks.push(chunk)
    })
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    req.on('error', reject)
  })
}

/**
 * Parses untrusted JSON after checking its limits. Throws `malformed_json`, and `validation_failed` for JSON that
 * exceeds the limits or cannot be stored.
 */
export function readJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError('malformed_json', 'The body is not UTF-8.')
  if (bytes.length > boundedBytes) checkBounds(bytes)
  return parsed(bytes.toString())
}

/** Like `readJson`, for a string such as a line of a file. */
export function readJsonText(text: string): unknown {
  if (text.length > boundedBytes) checkBounds(Buffer.from(text))
  return parsed(text)
}

function parsed(text: string): unknown {
  let value: unknown
  try {
    value = parseExact(text)
  } catch (error) {
    throw new ApiError('malformed_json', 'The body is not valid JSON.', { cause: error })
  }
  checkJson(text, value)
  return value
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('payload_too_large', `The body may have at most ${limitBytes} bytes.`)
}
