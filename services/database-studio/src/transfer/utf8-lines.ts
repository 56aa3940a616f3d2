import { isUtf8 } from 'node:buffer'
import { ApiError } from '@opsplane/contracts'

const lineFeed = 0x0a
/** Maximum bytes of an incomplete character. */
const maxPending = 3

/**
 * Passes through the parts of a file while they are valid UTF-8. Throws `validation_failed` with the line of the first
 * invalid byte: text in another encoding would otherwise be stored with replacement characters, without an error.
 */
export async function* requireUtf8(parts: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let pending = Buffer.alloc(0)
  let line = 1
  for await (const part of parts) {
    const text = Buffer.concat([pending, part])
    const whole = text.subarray(0, endOfWhole(text))
    if (!isUtf8(whole)) throw otherEncoding(line + linesBeforeFault(whole))
    line += linesIn(whole)
    pending = Buffer.from(text.subarray(whole.length))
    yield part
  }
  if (pending.length > 0) throw otherEncoding(line)
}

/** Offset of a trailing incomplete character, or the end of the bytes. */
function endOfWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(maxPending, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return lengthOf(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Length of a character in bytes, by its first byte. */
const lengthOf = (byte: number) => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)

function linesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count++
  return count
}

function linesBeforeFault(bytes: Buffer): number {
  let before = 0
  for (let from = 0; ; before++) {
    const end = bytes.indexOf(lineFeed, from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return before
    from = end + 1
  }
}

function otherEncoding(line: number): ApiError {
  const message = `line ${line} is not UTF-8`
  return new ApiError(
    'validation_failed',
    `The file cannot be imported: ${message}. Save it as UTF-8 and import it again; nothing of it was written.`,
    { details: [{ in: 'body', path: '', code: 'invalid_encoding', message, params: { line } }] },
  )
}
