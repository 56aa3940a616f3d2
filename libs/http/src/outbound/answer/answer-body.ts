import { parseExact } from '@opsplane/contracts'
import { isNoDeeper } from '../../server/json-check.js'

/** The part of a response that was read. */
export interface AnsweredBytes {
  /** By lower-case names. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Whether the body continues beyond the bytes that were read. */
  truncated: boolean
}

/** A body as a JSON value: parsed, as text, or in base64 if it is not text. */
type AnswerBody =
  | { encoding: 'none'; body: null }
  | { encoding: 'json'; body: unknown }
  | { encoding: 'text' | 'base64'; body: string }

/**
 * Decodes a body by its type and charset: JSON as UTF-8 (RFC 8259); text by its charset, by the one
 * declared at its beginning, or as UTF-8. A body that cannot be decoded without loss is returned in
 * base64; JSON nested too deeply stays text.
 */
export function answerBody(answer: AnsweredBytes): AnswerBody {
  const read = answerText(answer)
  if (read.encoding !== 'text' || answer.truncated || !isJson(typeOf(answer))) return read
  try {
    const body = parseExact(read.body)
    // No part of the platform accepts deeper nesting.
    return isNoDeeper(body) ? { encoding: 'json', body } : read
  } catch {
    return read
  }
}

/** Like `answerBody` without parsing JSON, for at most `maxBytes` bytes. */
export function answerText(
  { headers, body, truncated }: AnsweredBytes,
  maxBytes = body.length,
): Exclude<AnswerBody, { encoding: 'json' }> {
  const bytes = body.subarray(0, maxBytes)
  if (bytes.length === 0) return { encoding: 'none', body: null }
  const text = textOf(typeOf({ headers }), bytes, truncated || bytes.length < body.length)
  return text === undefined
    ? { encoding: 'base64', body: bytes.toString('base64') }
    : { encoding: 'text', body: text }
}

interface ContentType {
  /** In lower case, without parameters. */
  media: string
  charset: string | undefined
}

function typeOf({ headers }: Pick<AnsweredBytes, 'headers'>): ContentType {
  const [media = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1])
    .find((label) => label !== undefined)
  return { media: media.trim().toLowerCase(), charset }
}

const isJson = ({ media }: ContentType) => /[/+]json$/.test(media)
const isXml = (media: string) => /[/+]xml$/.test(media)

/** Types that are never text, whatever their bytes are; SVG is XML. */
const isBinary = (media: string) => /^(?:image|audio|video|font)\//.test(media) && !isXml(media)

/** `undefined` if it is not text or contains NUL characters, which the platform's JSON must not contain. */
function textOf(type: ContentType, bytes: Buffer, isTruncated: boolean): string | undefined {
  if (isBinary(type.media)) return undefined
  try {
    const decoder = new TextDecoder(charsetOf(type, bytes), { fatal: true })
    // An incomplete character at the end is dropped.
    const text =
      decoder.encoding === 'windows-1252'
        ? windows1252(bytes)
        : decoder.decode(bytes, { stream: isTruncated })
    return text.includes('\0') ? undefined : text
  } catch {
    // Not text in that charset, or the charset is unknown.
    return undefined
  }
}

const upperControls = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Latin-1 is an alias of windows-1252. Node 20's decoder lacks the characters beyond Latin-1. */
const windows1252 = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (letter) => upperControls[letter.charCodeAt(0) - 0x80] ?? letter)

const marks: [mark: Buffer, charset: string][] = [
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
]
const declarationBytes = 1_024

function charsetOf(type: ContentType, bytes: Buffer): string {
  if (isJson(type)) return 'utf-8'
  if (type.charset !== undefined) return type.charset
  const byteOrderMark = marks.find(([mark]) => bytes.subarray(0, mark.length).equals(mark))
  if (byteOrderMark) return byteOrderMark[1]
  const head = bytes.subarray(0, declarationBytes).toString('latin1')
  const declared = isXml(type.media)
    ? /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)
    : type.media === 'text/html' && /<meta[^>]*\scharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)
  return (declared || undefined)?.[1] ?? 'utf-8'
}
