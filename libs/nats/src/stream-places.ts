import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsLink } from './link.js'
import { streamLog } from './stream-log.js'
import type { StreamMessage } from './stream-message.js'

/**
 * Says where messages stand in a stream, as text that sorts in stream order: the instant the stream was created and
 * the message's sequence. So what a stream that was lost and created again holds comes after what it held before.
 * Everything rejects while the server is away.
 */
export interface StreamPlaces {
  of(messages: readonly PlacedMessage[]): Promise<string[]>
  /** Up to and including this place, every message has been acknowledged to this durable consumer. */
  floor(durable: string): Promise<string>
  /** The stream may be another one from now on. */
  forget(): void
}

/** What a place is made from. */
export type PlacedMessage = Pick<StreamMessage, 'seq' | 'storedMs'>

const timeoutMs = 5_000

export function streamPlaces(link: NatsLink, stream: string): StreamPlaces {
  const log = streamLog(link, stream)
  return {
    async of(messages) {
      const created = await log.identity()
      return messages.map((message) => placeOf(message, created))
    },
    async floor(durable) {
      // In this order: were the stream created anew in between, the floor would be too low, which only delays.
      const created = await log.identity()
      const manager = await jetstreamManager(await link.ready(), { checkAPI: false, timeout: timeoutMs })
      const { ack_floor } = await manager.consumers.info(stream, durable)
      return streamPlace(Date.parse(created), ack_floor.stream_seq)
    },
    forget: () => log.forget(),
  }
}

/**
 * A message stored before the stream was created is left over from an earlier one, of which only that is known: the
 * instant it was stored at lies between the two streams' beginnings, and so does its place.
 */
export function placeOf({ seq, storedMs }: PlacedMessage, created: string): string {
  return streamPlace(Math.min(Date.parse(created), storedMs), seq)
}

/** All places are of one length and alphabet, so any collation sorts them alike. */
function streamPlace(sinceMs: number, sequence: number): string {
  return `${new Date(sinceMs).toISOString()}/${String(sequence).padStart(20, '0')}`
}
