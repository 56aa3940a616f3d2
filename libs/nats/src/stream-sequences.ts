import { consumerPlace } from './consumer-progress.js'
import type { NatsLink } from './link.js'
import { streamLog } from './stream-log.js'
import type { StreamMessage } from './stream-message.js'

/**
 * Formats the position of messages in a stream as text that sorts in stream order: the stream's creation time and
 * the message's sequence. Messages of a stream that was lost and recreated therefore sort after those of the
 * earlier one. All methods reject while the server is unavailable.
 */
interface StreamSequences {
  of(messages: readonly SequencedMessage[]): Promise<string[]>
  /** The position up to and including which every message has been acknowledged to this durable consumer. */
  lowWatermark(durable: string): Promise<string>
  /** The stream may have been recreated. */
  forget(): void
}

/** The fields of a message that determine its position. */
type SequencedMessage = Pick<StreamMessage, 'seq' | 'storedMs' | 'after'>

export function streamSequences(link: NatsLink, stream: string): StreamSequences {
  const log = streamLog(link, stream)
  return {
    async of(messages) {
      const created = await log.created()
      return messages.map((message) => formatSequence(message, created))
    },
    async lowWatermark(durable) {
      // In this order: if the stream is recreated in between, the low watermark is too low, which only causes delay.
      const created = await log.created()
      const { ackFloor } = await consumerPlace(await link.ready(), { stream, durable })
      return `${streamSequence(Date.parse(created), ackFloor)}/${padded(Number.MAX_SAFE_INTEGER)}`
    },
    forget: () => log.forget(),
  }
}

/**
 * A message stored before the stream's creation belongs to an earlier stream whose creation time is unknown: the
 * message's storage time lies between the creation times of the two streams, and so does its position. An event
 * read from a log sorts after the stream sequence it comes after, by its log position.
 */
export function formatSequence({ seq, storedMs, after }: SequencedMessage, created: string): string {
  const createdMs = Date.parse(created)
  if (after !== undefined) return `${streamSequence(createdMs, after)}/${padded(seq)}`
  return streamSequence(Math.min(createdMs, storedMs), seq)
}

/** All parts have the same length and alphabet, so any collation sorts positions alike. */
function streamSequence(sinceMs: number, sequence: number): string {
  return `${new Date(sinceMs).toISOString()}/${padded(sequence)}`
}

const padded = (number: number) => String(number).padStart(20, '0')
