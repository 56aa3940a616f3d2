import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { openStreamManager } from './streams.js'

/** Configuration of a durable consumer on the server. */
export interface DurableConfig {
  stream: string
  durable: string
  /** Full subjects, with wildcards; all subjects of the stream if absent. */
  filterSubjects?: readonly string[]
  /** Where a new consumer starts: at the oldest stored message, or with the next one. */
  start?: 'oldest' | 'new' | (() => Promise<'oldest' | 'new'>)
  /**
   * The maximum number of messages of this consumer, across all replicas, that await their acknowledgement or
   * redelivery.
   */
  maxAckPending?: number
  /**
   * Time after which the server redelivers the messages of a process that died; a live process extends it for its
   * messages.
   */
  ackWaitMs?: number
  /** The server deletes the consumer after this time without requests; never if absent. */
  forgetAfterMs?: number
}

const timeoutMs = 2_000

/**
 * Creates the consumer or updates its configuration. Resolves to its creation time, which distinguishes it from
 * others of the same name. Throws if the stream is missing or the server does not answer.
 */
export async function ensureConsumer(connection: NatsConnection, options: DurableConfig): Promise<string> {
  const manager = await openStreamManager(connection, timeoutMs)
  const targetConfig = consumerConfig(options)
  const existing = await findConsumer(manager, options.stream, options.durable)
  if (!existing) {
    const start = typeof options.start === 'function' ? await options.start() : options.start
    const deliver_policy = start === 'new' ? DeliverPolicy.New : DeliverPolicy.All
    return (await manager.consumers.add(options.stream, { ...targetConfig, deliver_policy })).created
  }
  if (differs(existing.config, targetConfig)) {
    const { ack_policy: _, durable_name: __, ...updatable } = targetConfig
    await manager.consumers.update(options.stream, options.durable, updatable)
  }
  return existing.created
}

async function findConsumer(manager: JetStreamManager, stream: string, durable: string) {
  try {
    return await manager.consumers.info(stream, durable)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound)
      return undefined
    throw error
  }
}

function differs(existing: ConsumerConfig, targetConfig: Partial<ConsumerConfig>): boolean {
  const keys = ['filter_subject', 'filter_subjects', 'ack_wait', 'max_ack_pending'] as const
  return keys.some((key) => JSON.stringify(existing[key]) !== JSON.stringify(targetConfig[key]))
}

export const defaultAckWaitMs = 30_000
export const defaultMaxAckPending = 1_000

function consumerConfig({ durable, filterSubjects = [], ...options }: DurableConfig) {
  const [only, ...others] = filterSubjects
  return {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.ackWaitMs ?? defaultAckWaitMs),
    // Only the code that handles the messages decides when one is given up; the server never does.
    max_deliver: -1,
    max_ack_pending: options.maxAckPending ?? defaultMaxAckPending,
    ...(options.forgetAfterMs !== undefined && { inactive_threshold: nanos(options.forgetAfterMs) }),
    ...(others.length > 0
      ? { filter_subjects: [...filterSubjects] }
      : only !== undefined && { filter_subject: only }),
  }
}
