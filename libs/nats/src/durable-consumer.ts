import { delay, type Logger, retryDelayMs, systemTimers, type Timers } from '@opsplane/runtime'
import {
  type BatchHandlingOptions,
  batchHandling,
  type ConsumerCounters,
  releaseDelayMs,
} from './batch-handling.js'
import {
  type ConsumerPlace,
  type ConsumerProgress,
  consumerPlace,
  consumerProgress,
} from './consumer-progress.js'
import {
  type DurableConfig,
  defaultAckWaitMs,
  defaultMaxAckPending,
  ensureConsumer,
} from './ensure-consumer.js'
import { NatsLinkClosedError } from './errors.js'
import type { NatsLink } from './link.js'
import { type BufferedMessage, createMessageBuffer, type ReadableEvent } from './message-buffer.js'
import { acknowledgements } from './pull/acknowledgements.js'
import { openPull, type Pull } from './pull/pull.js'
import { type RequestRounds, requestRounds } from './pull/request-rounds.js'
import type { StreamMessage } from './stream-message.js'
import { logInterruption } from './streams.js'

export interface DurableConsumerOptions<T>
  extends DurableConfig,
    Pick<BatchHandlingOptions<T>, 'apply' | 'isAway' | 'isTransient' | 'onDead' | 'maxDeliveries' | 'retry'> {
  link: NatsLink
  /** Maximum number of events per batch. */
  maxBatch?: number
  /** Number of batches applied concurrently; batches with the same queue key are still applied one after the other. */
  batchesInFlight?: number
  /**
   * Minimum time between two rounds of requests for messages, unless a full batch waits. The first message after a
   * pause is delivered immediately; later ones collect at the server, so that batches are fewer and larger. A
   * function is evaluated in each round.
   */
  spacingMs?: number | (() => number)
  /** Maximum number of bytes in memory; a larger message is buffered alone. */
  maxBufferedBytes?: number
  log: Logger
  timers?: Timers
  /**
   * Called before the first request, and before the next one whenever the consumer or stream may have been
   * recreated. Its argument queries the consumer's progress. No messages are requested until it resolves; if it
   * rejects, the consumer restarts.
   */
  prepare?(place: () => Promise<ConsumerProgress>): Promise<void>
  /** Parses a message; `null` if no handler needs it. If it throws, the message cannot be handled and is given up. */
  read(message: StreamMessage): ReadableEvent<T> | null
}

export interface DurableConsumer {
  counters(): ConsumerCounters
  /** Queries the server for the consumer's position. Rejects while the server is unavailable. */
  place(): Promise<ConsumerPlace>
  /** Like `place`, with the range of the stream, which takes one more request. */
  progress(): Promise<ConsumerProgress>
  /** Restarts, calling `prepare` again. */
  restart(reason: string): void
  /** Drains: requests no more messages, returns those not yet started, and waits for those in flight. */
  close(): Promise<void>
}

/** Minimum buffer size, so that some messages are prefetched while batches are in flight. */
const minBuffered = 16
const defaultBufferBytes = 8 * 1_024 * 1_024
/** A lost consumer is recreated immediately; if it is lost again within this time, the next attempt is delayed. */
const settledMs = 1_000

/**
 * Runs a durable pull consumer until closed; all consumers use this loop. Its buffer is bounded, and buffered
 * messages are kept from being redelivered while they wait. A consumer or stream that has disappeared is created
 * again, and a request to a silent server is repeated within a second.
 */
export function durableConsumer<T>(options: DurableConsumerOptions<T>): DurableConsumer {
  const {
    link,
    stream,
    durable,
    log,
    maxBatch = 256,
    batchesInFlight = 1,
    spacingMs = 0,
    timers = systemTimers,
  } = options
  const { maxAckPending = defaultMaxAckPending, ackWaitMs = defaultAckWaitMs } = options
  const { durables } = link.identity ?? {}
  if (durables && !durables.includes(durable))
    throw new Error(`the service registry does not list the durable consumer ${durable}`)
  const closing = new AbortController()
  const buffer = createMessageBuffer<T>({
    messages: Math.min(Math.max(maxBatch * (batchesInFlight + 1), minBuffered), maxAckPending),
    bytes: options.maxBufferedBytes ?? defaultBufferBytes,
    ackWaitMs,
    timers,
  })
  const acks = acknowledgements(buffer.disown)
  const handling = batchHandling<T>({
    ...options,
    maxAckPending,
    closing: closing.signal,
    onSettled: (message, how) => buffer.release(message, how),
  })
  const running = new Set<Promise<void>>()
  let pull: Pull | undefined
  let restart: (reason: string) => void = () => {}
  let inFlight = 0
  let rounds: RequestRounds | undefined
  let planned = false

  /** Deferred, so that messages that arrive together are considered together. */
  const plan = () => {
    if (planned) return
    planned = true
    queueMicrotask(() => {
      planned = false
      while (beginBatch());
    })
  }

  const again = () => {
    plan()
    pull?.more()
  }

  const beginBatch = (): boolean => {
    if (inFlight >= batchesInFlight || closing.signal.aborted) return false
    const ready = buffer.ready(maxBatch)
    if (ready === 'none' || (ready === 'some' && rounds?.isGathering())) return false
    const batch = runBatch(buffer.next(maxBatch))
    running.add(batch)
    void batch.finally(() => running.delete(batch))
    return true
  }

  const runBatch = async (batch: BufferedMessage<T>[]) => {
    inFlight++
    let isCounted = true
    const leave = () => {
      if (isCounted) inFlight--
      isCounted = false
      plan()
    }
    await handling.handle(batch, leave)
    leave()
    pull?.more()
  }

  const onMessage = (message: StreamMessage) => {
    if (closing.signal.aborted) return message.nak(releaseDelayMs)
    const content = read(message)
    if (content) {
      // Not copied, because the event may be parsed lazily on first access.
      if (buffer.add(Object.assign(content, { message }))) plan()
      return
    }
    handling.counters.skipped++
    message.ack()
  }

  const read = (message: StreamMessage) => {
    try {
      return options.read(message)
    } catch (error) {
      return { error }
    }
  }

  /** Requests messages until the consumer is lost. */
  const consume = async () => {
    const connection = await link.ready(closing.signal)
    await acks.verify(connection, () => ensureConsumer(connection, options))
    if (closing.signal.aborted) return
    await options.prepare?.(() => consumerProgress(connection, options))
    if (closing.signal.aborted) return
    if (acks.isSuspended()) throw new Error('the connection was lost before anything was asked for')
    const startedAt = timers.now()
    if (spacingMs !== 0) rounds = requestRounds({ spacingMs, full: maxBatch, again, timers })
    const { capacity: room } = buffer
    const own = openPull({ connection, stream, durable, rounds, onMessage, capacity: room, timers, acks })
    pull = own
    const restarted = new Promise<string>((resolve) => {
      restart = resolve
    })
    const reason = await Promise.race([own.lost, restarted])
    const closed = own.close()
    // The messages of the last request need not wait for the rest of the round: the server will not report its end.
    rounds = undefined
    plan()
    if (closing.signal.aborted) return closed
    acks.suspend()
    log.warn({ durable, reason }, 'the server no longer knows the consumer; creating it again')
    if (timers.now() - startedAt < settledMs) throw new Error(`the consumer was lost: ${reason}`)
  }

  const run = async () => {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        await consume()
        failures = 0
      } catch (error) {
        if (error instanceof NatsLinkClosedError || closing.signal.aborted) return
        failures++
        if (failures === 1)
          logInterruption(log, error, { durable, stream }, 'consumer interrupted, starting it again')
        const timing = { strategy: 'exponential', baseMs: 50, maxMs: 1_000 } as const
        await delay(retryDelayMs({ attempt: failures, ...timing }), closing.signal, timers)
      }
    }
  }
  const looping = run()

  return {
    counters: () => ({ ...handling.counters }),
    place: async () => consumerPlace(await link.ready(closing.signal), options),
    progress: async () => consumerProgress(await link.ready(closing.signal), options),
    restart: (reason) => restart(reason),
    async close() {
      closing.abort()
      restart('closed')
      for (const { message } of buffer.rest()) message.nak(releaseDelayMs)
      await looping
      await Promise.all(running)
      buffer.close()
      acks.close()
    },
  }
}
