import { type JsonValue, stringifyExact } from '@opsplane/contracts'
import { type AnsweredBytes, answerBody } from '@opsplane/http'
import { createRedaction, maskValue, type Redact } from '@opsplane/runtime'

export interface StoredResponse {
  headers: Record<string, string>
  body: string
}

/**
 * A response in the form stored for display: without the secrets of its request, and
 * without values whose names suggest secrets.
 */
export function toStoredResponse(answer: AnsweredBytes, secrets: readonly string[]): StoredResponse {
  const redact = createRedaction(secrets)
  const clean = (text: string, cutOff = false) => redact(text, cutOff).replaceAll('\0', '\ufffd')
  return {
    // Masking keeps the shape, so header names still map to texts.
    headers: maskValue(answer.headers, clean) as StoredResponse['headers'],
    body: clean(maskedBody(answer, redact), answer.truncated),
  }
}

/** Decoded by its charset. Binary data is read as UTF-8 with replacement characters. */
function maskedBody(answer: AnsweredBytes, redact: Redact): string {
  const read = answerBody(answer)
  if (read.encoding === 'text') return read.body
  const text = answer.body.toString()
  if (read.encoding !== 'json') return text
  // The body was parsed as JSON.
  const body = read.body as JsonValue
  const masked = maskValue(body, redact)
  return masked === body ? text : stringifyExact(masked)
}
