import { type Actor, ApiError, parseExact, stringifyExact } from '@opsplane/contracts'
import type { EventRow } from './commit.js'

/** What a NATS server takes unless it is set otherwise, less subject, headers and the envelope around the data. */
export const maxDataBytes = 1024 * 1024 - 8 * 1024
/**
 * Most bytes of a record. An event has it twice, before and after, and also a comment or a decision: what may
 * still be done to a record of this size fits into a message, too.
 */
export const maxRecordBytes = 448 * 1024

type Sized = Pick<EventRow, 'data'>

/**
 * Throws payload_too_large where a message could not carry an event, or where a record grows so large that those after
 * it could not be carried. What the platform does by itself is never refused: one record must not hold up a batch.
 */
export function checkSizes(events: readonly Sized[], actor: Actor): void {
  if (actor.type === 'system') return
  for (const { data } of events) {
    const bytes = byteLength(data)
    if (bytes <= maxRecordBytes) continue
    const { before, after } = parseExact(data) as { before: unknown; after: unknown }
    const [was, is] = [sizeOf(before), sizeOf(after)]
    if (is > maxRecordBytes && is > was) throw tooLarge(is, maxRecordBytes)
    if (bytes > maxDataBytes) throw tooLarge(bytes, maxDataBytes)
  }
}

const sizeOf = (record: unknown): number => (record ? byteLength(stringifyExact(record)) : 0)
const byteLength = (text: string): number => Buffer.byteLength(text)

function tooLarge(bytes: number, limitBytes: number): ApiError {
  const message = `The texts of this record are too long together: written as JSON it may have at most ${limitBytes} bytes.`
  return new ApiError('payload_too_large', `${message} Shorten some of them.`, {
    details: [
      {
        in: 'body',
        path: '',
        code: 'record_too_large',
        message: 'makes the record too large; a control character counts 6 bytes',
        params: { bytes, limitBytes },
      },
    ],
  })
}
