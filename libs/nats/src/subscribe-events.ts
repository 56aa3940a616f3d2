import {
  type CatalogPattern,
  type EventOf,
  type EventType,
  natsNames,
  parseEvent,
  type TenantScope,
  type TypesMatching,
} from '@opsplane/contracts'
import { type Logger, retryDelayMs } from '@opsplane/runtime'
import { type DurableConsumerOptions, durableConsumer, giveBackDelayMs } from './durable-consumer.js'
import { connectNats, type NatsLink } from './link.js'

/** Few, as those fetched ahead of the batch in hand are not kept from being delivered again. */
const maxBatch = 16

type Message = Parameters<DurableConsumerOptions['onBatch']>[0][number]

/** An event that was given up: its bytes as they came, and why. */
export interface DeadEvent {
  subject: string
  body: string
  deliveries: number
  error: unknown
}

export type SubscribeEventsOptions<Pattern extends CatalogPattern> = {
  /** Keeps installations apart on one server: `NATS_PREFIX` of the platform. */
  prefix?: string
  /** `<service>-<purpose>`: who goes on where it stopped. Several processes under one name share the events. */
  durable: string
  /** Event types, `prefix.*`, or `*`. */
  patterns: readonly Pattern[]
  /** Only events of this workspace, this environment; all when absent. */
  tenant?: Partial<TenantScope>
  /** Where a new durable begins; at the oldest event kept (a week) unless given. */
  start?: 'oldest' | 'new'
  /** For a durable of the moment: the server forgets it and its place when nobody asks for so long. */
  forgetAfterMs?: number
  log: Logger
  /**
   * Called for one event at a time and acknowledged once it resolves; rejected, the event comes again. An event can
   * come twice and, after a failure, later than others, so effects are keyed by `event.id` and a kept state is only
   * replaced by one of a higher `event.version`.
   */
  handle(event: EventOf<TypesMatching<Pattern>>): Promise<void>
  /**
   * Keeps an event that failed `maxDeliveries` times; rejected, the event comes again. Without it no event is ever
   * given up: it comes again, at most every `retry.maxMs`, for as long as the stream has it.
   */
  onDead?(dead: DeadEvent): Promise<void>
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** From when on another process gets the events of one that died; a living one may take longer. */
  ackWaitMs?: number
} & (
  | { link: NatsLink }
  | {
      /** `nats://host:port`: connects, and closes the connection with the subscription. */
      url: string
    }
)

export interface EventSubscription {
  counters(): { handled: number; failed: number; dead: number; skipped: number }
  /** Finishes the event in hand; those behind it go back at once. */
  close(): Promise<void>
}

/**
 * Subscribes to platform events, typed by the catalogue, at least once. An event that fails keeps back the later
 * ones of its resource that arrived with it, and is tried again with growing delay. Types this build does not know
 * are acknowledged and counted as skipped.
 */
export function subscribeEvents<const Pattern extends CatalogPattern>(
  options: SubscribeEventsOptions<Pattern>,
): EventSubscription {
  const { durable, patterns, log, maxDeliveries = 10, ackWaitMs = 30_000 } = options
  const { retry = { baseMs: 1_000, maxMs: 300_000 } } = options
  if (patterns.length === 0) throw new Error(`${durable} subscribes to nothing: name at least one pattern`)
  const names = natsNames(options.prefix)
  const link = 'url' in options ? connectNats({ url: options.url, name: durable, log }) : options.link
  const counters = { handled: 0, failed: 0, dead: 0, skipped: 0 }
  const closing = new AbortController()

  const putBack = (message: Message) => {
    message.nak(retryDelayMs({ attempt: message.info.deliveryCount, strategy: 'exponential', ...retry }))
  }

  const failed = async (message: Message, error: unknown) => {
    const { subject, seq } = message
    const deliveries = message.info.deliveryCount
    counters.failed++
    log.warn({ err: error, durable, subject, seq, deliveries }, 'event failed')
    if (!options.onDead || deliveries < maxDeliveries) return putBack(message)
    try {
      await options.onDead({ subject, body: message.string(), deliveries, error })
    } catch (cause) {
      log.error({ err: cause, durable, subject, seq }, 'a dead event could not be kept')
      return putBack(message)
    }
    message.term()
    counters.dead++
  }

  const take = async (message: Message, held: Set<string>) => {
    let resource: string | undefined
    try {
      const event = parseEvent(message.json())
      if (event === null) counters.skipped++
      else {
        resource = `${event.resource.type}/${event.resource.id}`
        if (held.has(resource)) return putBack(message)
        // The server filters by these patterns, so every event is of a type they cover.
        await options.handle(event as EventOf<EventType> as EventOf<TypesMatching<Pattern>>)
        counters.handled++
      }
      message.ack()
    } catch (error) {
      if (resource !== undefined) held.add(resource)
      await failed(message, error)
    }
  }

  const consumer = durableConsumer({
    link,
    stream: names.eventsStream,
    durable,
    log,
    filterSubjects: names.eventFilters(patterns, options.tenant),
    ...(options.start && { start: options.start }),
    ...(options.forgetAfterMs !== undefined && { forgetAfterMs: options.forgetAfterMs }),
    maxBatch,
    ackWaitMs,
    onBatch: async (messages) => {
      const held = new Set<string>()
      const waiting = new Set(messages)
      // Whatever waits for its turn, or is being handled, is still in hand.
      const alive = setInterval(() => {
        for (const message of waiting) message.working()
      }, ackWaitMs / 3)
      for (const message of messages) {
        if (closing.signal.aborted) message.nak(giveBackDelayMs)
        else await take(message, held)
        waiting.delete(message)
      }
      clearInterval(alive)
    },
  })

  return {
    counters: () => ({ ...counters }),
    async close() {
      closing.abort()
      await consumer.close()
      if ('url' in options) await link.close()
    },
  }
}
