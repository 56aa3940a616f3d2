import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { managerOf } from './streams.js'
import { coveringFilter } from './subject-match.js'

/** What the server keeps of a durable consumer. */
export interface DurableConfig {
  stream: string
  durable: string
  /** All subjects of the stream when absent. Whole subjects, with wildcards. */
  filterSubjects?: readonly string[]
  /** Where a consumer that does not exist yet begins: at the oldest kept message, or with what comes next. */
  start?: 'oldest' | 'new' | (() => Promise<'oldest' | 'new'>)
  /** Most messages on this consumer, over all replicas, that wait for their ack or to come again. */
  maxAckPending?: number
  /** From when on the server delivers what a process that died has held; a living one keeps what it holds. */
  ackWaitMs?: number
  /** The server forgets the consumer and its place when nobody asks for so long; never unless given. */
  forgetAfterMs?: number
  /** Whether it is made anew when it is ahead of its stream: users of subscribers may do neither, nor look at the stream. */
  mayReplace?: boolean
}

const timeoutMs = 2_000

/**
 * Makes the consumer or brings it up to date; resolves with when it was made, which tells it from others of its name. Throws when the stream is missing or the
 * server does not answer.
 */
export async function ensureConsumer(connection: NatsConnection, options: DurableConfig): Promise<string> {
  const manager = await managerOf(connection, timeoutMs)
  const wanted = consumerConfig(connection, options)
  let existing = await findConsumer(manager, options.stream, options.durable)
  if (existing && options.mayReplace && (await isAhead(manager, existing))) {
    await manager.consumers.delete(options.stream, options.durable)
    existing = undefined
  }
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

/** The stream has lost its end. Servers before 2.14 would not deliver what comes in its place. */
async function isAhead(manager: JetStreamManager, { stream_name, delivered }: ConsumerInfo) {
  const { state } = await manager.streams.info(stream_name)
  return delivered.stream_seq > state.last_seq
}

function differs(existing: ConsumerConfig, wanted: Partial<ConsumerConfig>): boolean {
  const keys = ['filter_subject', 'filter_subjects', 'ack_wait', 'max_ack_pending'] as const
  return keys.some((key) => JSON.stringify(existing[key]) !== JSON.stringify(wanted[key]))
}

export const defaultAckWaitMs = 30_000
export const defaultMaxAckPending = 1_000

function consumerConfig(
  connection: NatsConnection,
  { durable, filterSubjects = [], ...options }: DurableConfig,
) {
  const config = {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.ackWaitMs ?? defaultAckWaitMs),
    // Who handles the messages decides when one is given up; the server never does.
    max_deliver: -1,
    max_ack_pending: options.maxAckPending ?? defaultMaxAckPending,
    ...(options.forgetAfterMs !== undefined && { inactive_threshold: nanos(options.forgetAfterMs) }),
  }
  if (filterSubjects.length > 1 && hasMultipleFilters(connection))
    return { ...config, filter_subjects: [...filterSubjects] }
  // Several filters need server 2.10; an older one delivers what they have in common, and whoever receives it filters.
  const covering = coveringFilter(filterSubjects)
  return covering === undefined ? config : { ...config, filter_subject: covering }
}

function hasMultipleFilters(connection: NatsConnection): boolean {
  const [major = 0, minor = 0] = (connection.info?.version ?? '').split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 10)
}
