import { parseExact } from '@opsplane/contracts'
import type { OutboundResponse } from '@opsplane/http'
import { z } from 'zod'

/** An answer as an action gives it. */
export const HttpOutput = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z
    .unknown()
    .meta({ description: 'JSON parsed, text as text, anything else in base64; null where there is none.' }),
  encoding: z.enum(['json', 'text', 'base64', 'none']),
  truncated: z.boolean().meta({ description: 'Whether the body is longer than what was read.' }),
})
export type HttpOutput = z.output<typeof HttpOutput>

export function outputOf({ status, headers, body, truncated }: OutboundResponse): HttpOutput {
  return { status, headers, ...bodyOf(body, headers['content-type'] ?? '', truncated), truncated }
}

function bodyOf(
  body: Buffer,
  contentType: string,
  truncated: boolean,
): Pick<HttpOutput, 'body' | 'encoding'> {
  if (body.length === 0) return { body: null, encoding: 'none' }
  const text = textOf(body, truncated)
  if (text === undefined) return { body: body.toString('base64'), encoding: 'base64' }
  if (/[/+]json\b/i.test(contentType) && !truncated) {
    try {
      return { body: parseExact(text), encoding: 'json' }
    } catch {
      return { body: text, encoding: 'text' }
    }
  }
  return { body: text, encoding: 'text' }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const cut = new TextDecoder('utf-8')

/** Undefined for what is no UTF-8, or has zero bytes, which no JSON of the platform may have. */
function textOf(body: Buffer, truncated: boolean): string | undefined {
  try {
    const text = truncated ? cut.decode(body.subarray(0, wholeLetters(body))) : utf8.decode(body)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** How much of a body that was cut off ends with a whole letter. */
function wholeLetters(body: Buffer): number {
  let end = body.length
  while (end > 0 && end > body.length - 4 && ((body[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return end > 0 && (body[end - 1] ?? 0) >= 0xc0 ? end - 1 : body.length
}
