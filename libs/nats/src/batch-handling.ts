import { delay, type Logger, retryDelayMs, systemTimers, type Timers } from '@opsplane/runtime'
import { UnreadableMessageError } from './errors.js'
import type { BufferedMessage, ReadableEvent } from './message-buffer.js'
import { readMessageId, type StreamMessage } from './stream-message.js'

/** A message and the event it carries. */
export type Received<T> = { message: StreamMessage } & ReadableEvent<T>

export interface ConsumerCounters {
  handled: number
  /** Events returned for redelivery: those that failed, and later ones of their aggregates. */
  retried: number
  deadLettered: number
  /** Messages that no handler of this consumer needs. */
  skipped: number
}

export interface BatchHandlingOptions<T> {
  durable: string
  log: Logger
  /**
   * Applies the events. If it throws, it is repeated with smaller batches, so every effect must be idempotent. An
   * event whose application throws UnreadableMessageError is given up immediately.
   */
  apply(batch: Received<T>[]): Promise<void>
  /** Whether the error means that a dependency is unavailable: the events wait, and no delivery is counted. */
  isAway?(error: unknown): boolean
  /** Whether the error means a conflict with other work: the same attempt is repeated up to two more times. */
  isTransient?(error: unknown): boolean
  /**
   * Records a message that is given up; if it rejects, the event is redelivered. Without it no event is ever given
   * up: it is redelivered, at intervals of up to `retry.maxMs`, while the stream has it.
   */
  onDead?(message: StreamMessage, error: unknown): Promise<void>
  /** Maximum number of failures of an event. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  maxAckPending: number
  timers?: Timers
  closing: AbortSignal
  /** The message is settled: handled or given up, or returned for redelivery. */
  onSettled(buffered: BufferedMessage<T>, how: 'done' | 'back'): void
}

interface BatchHandling<T> {
  /** Never rejects. `park` is called when the batch waits for a dependency: other batches may continue meanwhile. */
  handle(batch: BufferedMessage<T>[], park: () => void): Promise<void>
  counters: ConsumerCounters
}

/**
 * Redelivery delay for messages that a stopping consumer returns. Without a delay the server may deliver the
 * message to the request of the consumer that has just stopped, and it is only redelivered after its ack wait.
 */
export const releaseDelayMs = 100
/** Number of failed attempts from which a batch lets other batches continue. */
const parkAfter = 4
const maxRemembered = 10_000
/** How long later events of a queue key wait for an event whose redelivery is due. */
const slackMs = 1_000

/**
 * Applies batches so that one failing event costs little and does not block other aggregates. A failing batch is
 * halved until the failing events are isolated: about 2 × log2(n) attempts for one of them. A failed event is
 * redelivered with growing delay and then handled alone, so that each further failure costs one attempt; later
 * events of its queue key are returned for redelivery after it.
 */
export function batchHandling<T>(options: BatchHandlingOptions<T>): BatchHandling<T> {
  const { durable, log, closing, maxDeliveries = 10, retry = { baseMs: 1_000, maxMs: 300_000 } } = options
  const { timers = systemTimers } = options
  const counters: ConsumerCounters = { handled: 0, retried: 0, deadLettered: 0, skipped: 0 }
  /** Number of failures in this process, by sequence. */
  const failures = new Map<number, number>()
  /** The failed event a queue key waits for, and until when. */
  const failing = new Map<string, { seq: number; until: number }>()
  /** Messages returned for redelivery and the end of their delay, by sequence. */
  const away = new Map<number, { tenant: string; until: number }>()
  let successes = 0

  const settle = (buffered: BufferedMessage<T>) => {
    const { seq } = buffered.message
    failures.delete(seq)
    away.delete(seq)
    if ('queueKey' in buffered && failing.get(buffered.queueKey)?.seq === seq)
      failing.delete(buffered.queueKey)
    options.onSettled(buffered, 'done')
  }

  const redeliverLater = (buffered: BufferedMessage<T>, delayMs: number) => {
    counters.retried++
    if ('tenant' in buffered)
      away.set(buffered.message.seq, { tenant: buffered.tenant, until: timers.now() + delayMs })
    buffered.message.nak(delayMs)
    options.onSettled(buffered, 'back')
  }

  const returnBatch = (batch: BufferedMessage<T>[]) => {
    for (const buffered of batch) {
      buffered.message.nak(releaseDelayMs)
      options.onSettled(buffered, 'back')
    }
  }

  /**
   * Events that wait for redelivery count as unacknowledged at the server: one workspace may use a quarter of that
   * limit.
   */
  const isFull = (tenant: string) => {
    const now = timers.now()
    let [own, all] = [0, 0]
    for (const [seq, waiting] of away) {
      if (waiting.until < now) away.delete(seq)
      else {
        all++
        if (waiting.tenant === tenant) own++
      }
    }
    return own >= options.maxAckPending / 4 || all >= options.maxAckPending / 2
  }

  const deadLetter = async (buffered: BufferedMessage<T>, error: unknown, attempt: number) => {
    const { message } = buffered
    const { subject, seq, deliveries } = message
    const { onDead } = options
    if (!onDead) return redeliverLater(buffered, retryDelayMs({ attempt, strategy: 'exponential', ...retry }))
    try {
      await patiently(() => onDead(message, error))
    } catch (cause) {
      if (closing.aborted) return returnBatch([buffered])
      log.error(
        { err: cause, durable, subject, seq },
        'a dead letter could not be stored; the event is delivered again',
      )
      return redeliverLater(buffered, retryDelayMs({ attempt, strategy: 'exponential', ...retry }))
    }
    const messageId = readMessageId(message)
    log.error({ err: error, durable, messageId, subject, seq, deliveries }, 'event given up')
    message.term()
    counters.deadLettered++
    settle(buffered)
  }

  const failed = async (received: Received<T>, error: unknown, isItsFault: boolean) => {
    const { message, queueKey, tenant } = received
    const { subject, seq, deliveries } = message
    if (error instanceof UnreadableMessageError) return deadLetter(received, error.cause, deliveries)
    const count = (failures.get(seq) ?? 0) + (isItsFault ? 1 : 0)
    const attempt = isItsFault ? count : deliveries
    remember(failures, seq, count)
    if (attempt === 1) log.warn({ err: error, durable, subject, seq }, 'event failed')
    // Counted here, because the server also counts deliveries of events that were only returned; its count limits
    // events that move between processes.
    const spent = count >= maxDeliveries || deliveries >= 2 * maxDeliveries
    if (options.onDead && (spent || (isItsFault && isFull(tenant))))
      return deadLetter(received, error, attempt)
    const delayMs = retryDelayMs({ attempt, strategy: 'exponential', ...retry })
    remember(failing, queueKey, { seq, until: timers.now() + delayMs })
    redeliverLater(received, delayMs)
  }

  /**
   * Returns later events of a failing event's queue key for redelivery. If too many are waiting already, order is
   * given up.
   */
  const deferIfBlocked = (received: Received<T>) => {
    const before = failing.get(received.queueKey)
    if (!before || before.seq >= received.message.seq) return false
    const waitMs = before.until - timers.now()
    if (waitMs < -slackMs || isFull(received.tenant)) return false
    redeliverLater(received, Math.max(waitMs, 0) + slackMs / 20)
    return true
  }

  /**
   * Repeats a task while it may still succeed. Throws errors that the events may have caused, such as when others
   * succeed meanwhile.
   */
  const patiently = async (task: () => Promise<void>, park?: () => void) => {
    let [conflicts, before] = [0, successes]
    for (let attempt = 1; ; attempt++) {
      try {
        await task()
        successes++
        if (attempt > 1) log.info({ durable }, 'the consumer is working again')
        return
      } catch (error) {
        const isAway = options.isAway?.(error) ?? false
        const waits = isAway || (options.isTransient?.(error) && ++conflicts < 3)
        if (!waits || closing.aborted) throw error
        if (isAway && attempt === 1)
          log.warn({ err: error, durable }, 'a dependency is unavailable; events wait until it is back')
        if (attempt >= parkAfter) {
          park?.()
          if (successes !== before) throw error
        }
        before = successes
        const timing = { strategy: 'exponential', baseMs: 100, maxMs: 5_000 } as const
        await delay(retryDelayMs({ attempt, ...timing }), closing, timers)
      }
    }
  }

  const applyAll = async (batch: Received<T>[], park: () => void, blamed = false): Promise<void> => {
    if (closing.aborted) return returnBatch(batch)
    const free = batch.filter((received) => !deferIfBlocked(received))
    const [first, ...others] = free
    if (!first) return
    try {
      await (blamed ? options.apply(free) : patiently(() => options.apply(free), park))
    } catch (error) {
      const isAway = options.isAway?.(error) ?? false
      if (closing.aborted && isAway) return returnBatch(free)
      if (others.length === 0) return failed(first, error, !isAway)
      const middle = free.length >> 1
      await applyAll(free.slice(0, middle), park, blamed || isAway)
      return applyAll(free.slice(middle), park, blamed || isAway)
    }
    for (const received of free) {
      received.message.ack()
      settle(received)
    }
    counters.handled += free.length
  }

  return {
    counters,
    async handle(batch, park) {
      const readable: Received<T>[] = []
      for (const buffered of batch) {
        if ('error' in buffered) await deadLetter(buffered, buffered.error, buffered.message.deliveries)
        else readable.push(buffered)
      }
      const suspected = new Set(
        readable.filter(({ message }) => failures.has(message.seq)).map(({ queueKey }) => queueKey),
      )
      await applyAll(
        readable.filter(({ queueKey }) => !suspected.has(queueKey)),
        park,
      )
      for (const received of readable) if (suspected.has(received.queueKey)) await applyAll([received], park)
    },
  }
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest)
}
