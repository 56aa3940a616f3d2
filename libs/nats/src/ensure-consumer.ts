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

/** What the server keeps of a durable consumer. */
export interface DurableConfig {
  stream: string
  durable: string
  /** All subjects of the stream when absent. Whole subjects, with wildcards. */
  filterSubjects?: readonly string[]
  /** Where a consumer that does not exist yet begins: at the oldest kept message, or with what comes next. */
  start?: 'oldest' | 'new' | (() => Promise<'oldest' | 'new'>)
  /** The maximum number of messages of this consumer, over all replicas, that await their ack or redelivery. */
  maxAckPending?: number
  /** From when on the server delivers what a process that died has held; a living one keeps what it holds. */
  ackWaitMs?: number
  /** The server deletes the consumer after so long without requests; never if absent. */
  forgetAfterMs?: number
}

const timeoutMs = 2_000

/**
 * Makes the consumer or brings it up to date; resolves with when it was made, which tells it from others of its name. Throws when the stream is missing or the
 * server does not answer.
 */
export async function ensureConsumer(connection: NatsConnection, options: DurableConfig): Promise<string> {
  const manager = await openStreamManager(connection, timeoutMs)
  const wanted = consumerConfig(options)
  const existing = await findConsumer(manager, options.stream, options.durable)
  if (!existing) {
    const start = typeof options.start === 'function' ? await options.start() : options.start
    const deliver_policy = start === 'new' ? DeliverPolicy.New : DeliverPolicy.All
    return (await manager.consumers.add(options.stream, { ...wanted, deliver_policy })).created
  }
  if (differs(existing.config, wanted)) {
    const { ack_policy: _, durable_name: __, ...updatable } = wanted
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

function differs(existing: ConsumerConfig, wanted: Partial<ConsumerConfig>): boolean {
  const keys = ['filter_subject', 'filter_subjects', 'ack_wait', 'max_ack_pending'] as const
  return keys.some((key) => JSON.stringify(existing[key]) !== JSON.stringify(wanted[key]))
}

export const defaultAckWaitMs = 30_000
export const defaultMaxAckPending = 1_000

function consumerConfig({ durable, filterSubjects = [], ...options }: DurableConfig) {
  const [only, ...others] = filterSubjects
  return {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.ackWaitMs ?? defaultAckWaitMs),
    // Who handles the messages decides when one is given up; the server never does.
    max_deliver: -1,
    max_ack_pending: options.maxAckPending ?? defaultMaxAckPending,
    ...(options.forgetAfterMs !== undefined && { inactive_threshold: nanos(options.forgetAfterMs) }),
    ...(others.length > 0
      ? { filter_subjects: [...filterSubjects] }
      : only !== undefined && { filter_subject: only }),
  }
}
