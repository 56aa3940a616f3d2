import type { NatsConnection } from '@nats-io/transport-node'
import { openStreamManager } from './streams.js'

/** How far a durable consumer has come in a stream. */
export interface ConsumerPlace {
  /** Everything up to this sequence is acknowledged, or does not concern the consumer. */
  ackFloor: number
  /** The last one that was delivered, and how many wait to be. */
  delivered: number
  pending: number
  /** How many were delivered that are not acknowledged yet. */
  ackPending: number
}

/** The same with what the stream still has. */
export interface ConsumerProgress extends ConsumerPlace {
  /** Another one when the stream was lost and created again. */
  streamCreated: string
  /** The oldest message the stream has; one above its last one when it has none. */
  firstSequence: number
  /** The last one it has taken. */
  lastSequence: number
  /** When its oldest message was stored, in milliseconds since 1970; null when the stream has none. */
  firstStoredMs: number | null
}

interface Durable {
  stream: string
  durable: string
}

/** One request of the server. Rejects where it does not know the consumer or does not answer. */
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

/** As `consumerPlace`, with one request more. */
export async function consumerProgress(
  connection: NatsConnection,
  consumer: Durable,
): Promise<ConsumerProgress> {
  // In this order: what is acknowledged in between was there.
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
