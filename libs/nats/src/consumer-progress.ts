import type { NatsConnection } from '@nats-io/transport-node'
import { openStreamManager } from './streams.js'

/** Position of a durable consumer in a stream. */
export interface ConsumerPlace {
  /** Everything up to this sequence is acknowledged, or not relevant to the consumer. */
  ackFloor: number
  /** The last delivered sequence, and the number of messages still to be delivered. */
  delivered: number
  pending: number
  /** Number of messages delivered and not yet acknowledged. */
  ackPending: number
}

/** The consumer's position together with the range of the stream. */
export interface ConsumerProgress extends ConsumerPlace {
  /** Changes when the stream was lost and created again. */
  streamCreated: string
  /** Sequence of the oldest message; `lastSequence` + 1 if the stream is empty. */
  firstSequence: number
  /** Sequence of the last stored message. */
  lastSequence: number
  /** When the oldest message was stored, in milliseconds since 1970; `null` if the stream is empty. */
  firstStoredMs: number | null
}

interface Durable {
  stream: string
  durable: string
}

/** Takes one server request. Rejects if the server does not know the consumer or does not answer. */
export async function consumerPlace(
  connection: NatsConnection,
  { stream, durable }: Durable,
): Promise<ConsumerPlace> {
  const manager = await openStreamManager(connection)
  const { ack_floor, delivered, num_pending, num_ack_pending } = await manager.consumers.info(stream, durable)
  return {
    ackFloor: ack_floor.stream_seq,
    delivered: delivered.stream_seq,
    pending: num_pending,
    ackPending: num_ack_pending,
  }
}

/** Like `consumerPlace`, with one additional request. */
export async function consumerProgress(
  connection: NatsConnection,
  consumer: Durable,
): Promise<ConsumerProgress> {
  // In this order: messages acknowledged in between were still in the stream.
  const place = await consumerPlace(connection, consumer)
  const { created, state } = await (await openStreamManager(connection)).streams.info(consumer.stream)
  return {
    ...place,
    streamCreated: created,
    firstSequence: state.messages === 0 ? state.last_seq + 1 : state.first_seq,
    lastSequence: state.last_seq,
    firstStoredMs: state.messages === 0 ? null : Date.parse(state.first_ts),
  }
}
