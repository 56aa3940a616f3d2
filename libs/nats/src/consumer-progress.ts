import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'

/** How far a durable consumer has come in a stream, and what the stream still has. */
export interface ConsumerProgress {
  /** Whether the consumer was made just now. */
  isNew: boolean
  /** Everything up to this sequence is acknowledged, or does not concern the consumer. */
  ackFloor: number
  /** The last one that was delivered, and how many wait to be. */
  delivered: number
  pending: number
  /** How many were delivered that are not acknowledged yet. */
  ackPending: number
  /** Another one when the stream was lost and created again. */
  streamCreated: string
  /** The oldest message the stream has; one above its last one when it has none. */
  firstSequence: number
  /** When that was stored, in milliseconds since 1970; null when the stream has none. */
  firstStoredMs: number | null
}

const timeoutMs = 5_000

export async function consumerProgress(
  connection: NatsConnection,
  { stream, durable }: { stream: string; durable: string },
  isNew = false,
): Promise<ConsumerProgress> {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })
  // In this order: what is acknowledged in between was there.
  const { ack_floor, delivered, num_pending, num_ack_pending } = await manager.consumers.info(stream, durable)
  const { created, state } = await manager.streams.info(stream)
  return {
    isNew,
    ackFloor: ack_floor.stream_seq,
    delivered: delivered.stream_seq,
    pending: num_pending,
    ackPending: num_ack_pending,
    streamCreated: created,
    firstSequence: state.messages === 0 ? state.last_seq + 1 : state.first_seq,
    firstStoredMs: state.messages === 0 ? null : Date.parse(state.first_ts),
  }
}
