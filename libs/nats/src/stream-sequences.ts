import { consumerPlace } from './consumer-progress.js'
import type { NatsLink } from './link.js'
import { streamLog } from './stream-log.js'
import type { StreamMessage } from './stream-message.js'

/**
 * Says where messages stand in a stream, as text that sorts in stream order: the instant the stream was created and
 * the message's sequence. So what a stream that was lost and created again holds comes after what it held before.
 * Everything rejects while the server is away.
 */
interface StreamSequences {
  of(messages: readonly SequencedMessage[]): Promise<string[]>
  /** Up to and including this place, every message has been acknowledged to this durable consumer. */
  lowWatermark(durable: string): Promise<string>
  /** The stream may be another one from now on. */
  forget(): void
}

/** What a place is made from. */
type SequencedMessage = Pick<StreamMessage, 'seq' | 'storedMs' | 'after'>

export function streamSequences(link: NatsLink, stream: string): StreamSequences {
  const log = streamLog(link, stream)
  return {
    async of(messages) {
      const created = await log.created()
      return messages.map((message) => formatSequence(message, created))
    },
    async lowWatermark(durable) {
      // In this order: if the stream is recreated in between, the lowWatermark is too low, which only delays.
      const created = await log.created()
      const { ackFloor } = await consumerPlace(await link.ready(), { stream, durable })
      return `${streamSequence(Date.parse(created), ackFloor)}/${padded(Number.MAX_SAFE_INTEGER)}`
    },
    forget: () => log.forget(),
  }
}

/**
 * A message stored before the stream was created is left over from an earlier one, of which only that is known: the
 * instant it was stored at lies between the two streams' beginnings, and so does its place. What comes from a log stands
 * behind the sequence it comes after, by its position there.
 */
export function formatSequence({ seq, storedMs, after }: SequencedMessage, created: string): string {
  const createdMs = Date.parse(created)
  if (after !== undefined) return `${streamSequence(createdMs, after)}/${padded(seq)}`
  return streamSequence(Math.min(createdMs, storedMs), seq)
}

/** All parts are of one length and alphabet, so any collation sorts places alike. */
function streamSequence(sinceMs: number, sequence: number): string {
  return `${new Date(sinceMs).toISOString()}/${padded(sequence)}`
}

const padded = (number: number) => String(number).padStart(20, '0')
