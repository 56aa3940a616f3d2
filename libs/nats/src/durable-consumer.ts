import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { ConsumerLostError, NatsLinkClosedError } from './errors.js'
import type { NatsLink } from './link.js'
import { coveringFilter, subjectMatches } from './subject-match.js'

export interface DurableConsumerOptions {
  link: NatsLink
  stream: string
  durable: string
  /** All subjects of the stream when absent. Whole subjects, with wildcards. */
  filterSubjects?: readonly string[]
  /** Where a consumer that does not exist yet begins: at the oldest kept message, or with what comes next. */
  start?: 'oldest' | 'new'
  /** Most messages handed over at once. */
  maxBatch?: number
  /**
   * Least time from the beginning of one batch to that of the next, unless a full one waits. A message after a pause is
   * handed over at once; under load batches are fewer and larger.
   */
  spacingMs?: number
  /** Most messages on this consumer, over all replicas, that wait for their ack. */
  maxAckPending?: number
  /** How long the server waits for an ack before it delivers again. */
  ackWaitMs?: number
  /** The server forgets the consumer and its place when nobody asks for so long; never unless given. */
  forgetAfterMs?: number
  log: Logger
  /** Called before the first batch, and before the next one whenever the consumer or stream may be another one. */
  onStart?(): void
  /**
   * Called with one batch at a time, in stream order; acks, naks or terms each message itself. It must not
   * throw: an error is logged and the messages come again after `ackWaitMs`.
   */
  onBatch(messages: JsMsg[]): Promise<void>
}

export interface DurableConsumer {
  /** Stops taking messages and waits for the batch in hand. */
  close(): Promise<void>
}

const heartbeatMs = 5_000
const missedHeartbeats = 2

/**
 * How long the server keeps what a consumer that stops gives back. Without a delay it may answer the pull of the one
 * that has just stopped, and the message is only seen again after its ack wait.
 */
export const giveBackDelayMs = 100

/**
 * Runs a durable pull consumer until closed. Whatever is delivered while a batch is being worked on forms the
 * next batch. A consumer or stream that has vanished is created again, and a silent server is left after two
 * missed heartbeats and asked anew.
 */
export function durableConsumer(options: DurableConsumerOptions): DurableConsumer {
  const { link, durable, log } = options
  const closing = new AbortController()

  const run = async () => {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const connection = await link.ready(closing.signal)
        const consumer = await ensureConsumer(connection, options)
        if (failures > 0) log.info({ durable }, 'consuming again')
        failures = 0
        options.onStart?.()
        await consumeUntilLost(consumer, options, closing.signal)
      } catch (error) {
        if (error instanceof NatsLinkClosedError || closing.signal.aborted) return
        failures++
        if (failures === 1) logInterruption(error, options)
        await delay(
          retryDelayMs({ attempt: failures, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
          closing.signal,
        )
      }
    }
  }
  const running = run()

  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

async function ensureConsumer(
  connection: NatsConnection,
  options: DurableConsumerOptions,
): Promise<Consumer> {
  const manager = await jetstreamManager(connection, { checkAPI: false })
  const wanted = consumerConfig(connection, options)
  const existing = await findConsumer(manager, options.stream, options.durable)
  if (!existing) await manager.consumers.add(options.stream, wanted)
  else if (differs(existing, wanted)) {
    const { deliver_policy: _, ack_policy: __, durable_name: ___, ...updatable } = wanted
    await manager.consumers.update(options.stream, options.durable, updatable)
  }
  return jetstream(connection).consumers.get(options.stream, options.durable)
}

/** Before the first event the stream is still to be made by the relay, which is nothing to worry about. */
function logInterruption(error: unknown, { log, durable, stream }: DurableConsumerOptions) {
  const missing = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound
  if (missing) log.info({ durable, stream }, 'the stream does not exist yet, waiting for it')
  else log.warn({ err: error, durable }, 'consumer interrupted, starting it again')
}

async function findConsumer(manager: JetStreamManager, stream: string, durable: string) {
  try {
    return (await manager.consumers.info(stream, durable)).config
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

function consumerConfig(
  connection: NatsConnection,
  { durable, start, filterSubjects = [], ...options }: DurableConsumerOptions,
) {
  const config = {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: start === 'new' ? DeliverPolicy.New : DeliverPolicy.All,
    ack_wait: nanos(options.ackWaitMs ?? 30_000),
    // Who handles the messages decides when one is given up; the server never does.
    max_deliver: -1,
    max_ack_pending: options.maxAckPending ?? 1_000,
    ...(options.forgetAfterMs !== undefined && { inactive_threshold: nanos(options.forgetAfterMs) }),
  }
  if (filterSubjects.length > 1 && hasMultipleFilters(connection))
    return { ...config, filter_subjects: [...filterSubjects] }
  // Several filters need server 2.10; an older one delivers what they have in common, and the loop below filters.
  const covering = coveringFilter(filterSubjects)
  return covering === undefined ? config : { ...config, filter_subject: covering }
}

function hasMultipleFilters(connection: NatsConnection): boolean {
  const [major = 0, minor = 0] = (connection.info?.version ?? '').split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 10)
}

async function consumeUntilLost(
  consumer: Consumer,
  options: DurableConsumerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { durable, maxBatch = 256, filterSubjects = [], spacingMs = 0 } = options
  const arrived: JsMsg[] = []
  let wake: () => void = () => {}
  let lost: ConsumerLostError | undefined
  let ended = false
  let nextBatchAt = 0

  const messages = await consumer.consume({
    max_messages: maxBatch,
    expires: heartbeatMs * 2,
    idle_heartbeat: heartbeatMs,
    callback: (message) => {
      if (filterSubjects.length > 0 && !filterSubjects.some((f) => subjectMatches(f, message.subject))) {
        message.ack()
        return
      }
      arrived.push(message)
      wake()
    },
  })
  const leave = (reason?: string) => {
    if (reason !== undefined) lost ??= new ConsumerLostError(durable, reason)
    messages.stop()
  }
  const onAbort = () => leave()
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  void messages.closed().then((error) => {
    if (error instanceof Error) lost ??= new ConsumerLostError(durable, error.message)
    ended = true
    wake()
  })
  void (async () => {
    for await (const status of messages.status()) {
      if (status.type === 'heartbeats_missed' && status.count >= missedHeartbeats) leave('no heartbeats')
      if (
        status.type === 'consumer_deleted' ||
        status.type === 'consumer_not_found' ||
        status.type === 'stream_not_found'
      )
        leave(status.type.replaceAll('_', ' '))
    }
  })()

  try {
    while (!ended && !signal.aborted) {
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (arrived.length > 0 || ended) resolve()
        })
        continue
      }
      const earlyMs = nextBatchAt - performance.now()
      if (earlyMs > 0 && arrived.length < maxBatch) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, earlyMs)
          wake = () => {
            if (arrived.length < maxBatch && !ended) return
            clearTimeout(timer)
            resolve()
          }
        })
        continue
      }
      nextBatchAt = performance.now() + spacingMs
      await handOver(arrived.splice(0, maxBatch), options)
    }
    // What was delivered but not taken up goes back now, instead of after its ack wait.
    for (const message of arrived) message.nak(giveBackDelayMs)
  } finally {
    signal.removeEventListener('abort', onAbort)
    messages.stop()
  }
  if (signal.aborted) return
  throw lost ?? new ConsumerLostError(durable, 'the connection was closed')
}

async function handOver(batch: JsMsg[], { onBatch, log, durable }: DurableConsumerOptions): Promise<void> {
  try {
    await onBatch(batch)
  } catch (error) {
    log.error({ err: error, durable, messages: batch.length }, 'a batch was not handled')
  }
}
