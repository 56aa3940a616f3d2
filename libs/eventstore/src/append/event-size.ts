import { type Actor, ApiError, parseExact, stringifyExact } from '@opsplane/contracts'
import type { EventRow } from './commit.js'

/** Default maximum payload of a NATS server, less subject, headers and the envelope around the data. */
export const maxDataBytes = 1024 * 1024 - 8 * 1024
/**
 * Maximum size of a record in bytes. An event contains the record twice, before and after, plus a comment or a
 * decision: later changes to a record of this size still fit into a message.
 */
export const maxRecordBytes = 448 * 1024

type Sized = Pick<EventRow, 'data'>

/**
 * Throws `payload_too_large` if an event does not fit into a message, or if a record grows so large that its later
 * events would not fit. Events the platform itself causes are never rejected: one record must not block a batch.
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
