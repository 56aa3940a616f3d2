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
   * Applies the events. What throws is applied again, in smaller parts, so every effect is one that may be repeated. Whose
   * UnreadableMessageError it is is given up at once.
   */
  apply(batch: Received<T>[]): Promise<void>
  /** Whether the error says that a dependency is away: the events wait, and no delivery is counted. */
  isAway?(error: unknown): boolean
  /** Whether the error says that others were in the way: the same attempt is worth two more. */
  isTransient?(error: unknown): boolean
  /**
   * Keeps what is given up; rejected, the event comes again. Without it no event is ever given up: it comes again, at most
   * every `retry.maxMs`, for as long as the stream has it.
   */
  onDead?(message: StreamMessage, error: unknown): Promise<void>
  /** How often an event may fail. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  maxAckPending: number
  timers?: Timers
  closing: AbortSignal
  /** The message is settled: handled or given up, or returned for redelivery. */
  onSettled(held: BufferedMessage<T>, how: 'done' | 'back'): void
}

interface BatchHandling<T> {
  /** Never rejects. `park` is called when the batch waits for a dependency: others may go on meanwhile. */
  handle(batch: BufferedMessage<T>[], park: () => void): Promise<void>
  counters: ConsumerCounters
}

/**
 * How long the server keeps what a consumer that stops gives back. Without a delay it may answer the request of the one
 * that has just stopped, and the message is only seen again after its ack wait.
 */
export const releaseDelayMs = 100
/** From which failing attempt on a batch lets others go on. */
const parkAfter = 4
const maxRemembered = 10_000
/** How long later events of a queue key wait for one that is due again. */
const slackMs = 1_000

/**
 * Applies batches so that one event which fails costs little and does not block other aggregates. A batch that fails is halved until the
 * failing events are alone: some 2 × log2(n) attempts for one of them. It comes again with growing delay and is then
 * handled by itself, so that each further failure costs one attempt; later events of its queue key are put back behind it.
 */
export function batchHandling<T>(options: BatchHandlingOptions<T>): BatchHandling<T> {
  const { durable, log, closing, maxDeliveries = 10, retry = { baseMs: 1_000, maxMs: 300_000 } } = options
  const { timers = systemTimers } = options
  const counters: ConsumerCounters = { handled: 0, retried: 0, deadLettered: 0, skipped: 0 }
  /** How often the event at a sequence has failed here. */
  const failures = new Map<number, number>()
  /** Until when a queue key waits for an event that failed. */
  const failing = new Map<string, { seq: number; until: number }>()
  /** Until when what was put back stays away, by sequence. */
  const away = new Map<number, { tenant: string; until: number }>()
  let successes = 0

  const settle = (held: BufferedMessage<T>) => {
    const { seq } = held.message
    failures.delete(seq)
    away.delete(seq)
    if ('queueKey' in held && failing.get(held.queueKey)?.seq === seq) failing.delete(held.queueKey)
    options.onSettled(held, 'done')
  }

  const putBack = (held: BufferedMessage<T>, delayMs: number) => {
    counters.retried++
    if ('tenant' in held) away.set(held.message.seq, { tenant: held.tenant, until: timers.now() + delayMs })
    held.message.nak(delayMs)
    options.onSettled(held, 'back')
  }

  const giveBack = (batch: BufferedMessage<T>[]) => {
    for (const held of batch) {
      held.message.nak(releaseDelayMs)
      options.onSettled(held, 'back')
    }
  }

  /** Events that wait for redelivery count as unacknowledged at the server: those of one workspace may be a quarter of that. */
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

  const giveUp = async (held: BufferedMessage<T>, error: unknown, attempt: number) => {
    const { message } = held
    const { subject, seq, deliveries } = message
    const { onDead } = options
    if (!onDead) return putBack(held, retryDelayMs({ attempt, strategy: 'exponential', ...retry }))
    try {
      await patiently(() => onDead(message, error))
    } catch (cause) {
      if (closing.aborted) return giveBack([held])
      log.error(
        { err: cause, durable, subject, seq },
        'a dead letter could not be stored; the event is delivered again',
      )
      return putBack(held, retryDelayMs({ attempt, strategy: 'exponential', ...retry }))
    }
    const messageId = readMessageId(message)
    log.error({ err: error, durable, messageId, subject, seq, deliveries }, 'event given up')
    message.term()
    counters.deadLettered++
    settle(held)
  }

  const failed = async (held: Received<T>, error: unknown, isItsFault: boolean) => {
    const { message, queueKey, tenant } = held
    const { subject, seq, deliveries } = message
    if (error instanceof UnreadableMessageError) return giveUp(held, error.cause, deliveries)
    const count = (failures.get(seq) ?? 0) + (isItsFault ? 1 : 0)
    const attempt = isItsFault ? count : deliveries
    remember(failures, seq, count)
    if (attempt === 1) log.warn({ err: error, durable, subject, seq }, 'event failed')
    // Counted here, as the server counts as well what was only put back; its count ends what moves between processes.
    const spent = count >= maxDeliveries || deliveries >= 2 * maxDeliveries
    if (options.onDead && (spent || (isItsFault && isFull(tenant)))) return giveUp(held, error, attempt)
    const delayMs = retryDelayMs({ attempt, strategy: 'exponential', ...retry })
    remember(failing, queueKey, { seq, until: timers.now() + delayMs })
    putBack(held, delayMs)
  }

  /** Puts back what comes after a failing event of its queue key. Where that is too much, order gives way. */
  const isHeldBack = (held: Received<T>) => {
    const before = failing.get(held.queueKey)
    if (!before || before.seq >= held.message.seq) return false
    const waitMs = before.until - timers.now()
    if (waitMs < -slackMs || isFull(held.tenant)) return false
    putBack(held, Math.max(waitMs, 0) + slackMs / 20)
    return true
  }

  /** Repeats what may yet succeed. Throws what the events can be blamed for, as when others succeed meanwhile. */
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
    if (closing.aborted) return giveBack(batch)
    const free = batch.filter((received) => !isHeldBack(received))
    const [first, ...others] = free
    if (!first) return
    try {
      await (blamed ? options.apply(free) : patiently(() => options.apply(free), park))
    } catch (error) {
      const isAway = options.isAway?.(error) ?? false
      if (closing.aborted && isAway) return giveBack(free)
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
      for (const held of batch) {
        if ('error' in held) await giveUp(held, held.error, held.message.deliveries)
        else readable.push(held)
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
