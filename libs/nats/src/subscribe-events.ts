import {
  type CatalogPattern,
  type EventOf,
  type EventType,
  natsNames,
  parseEvent,
  type TenantScope,
  type TypesMatching,
} from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import type { ConsumerCounters } from './batch-handling.js'
import { durableConsumer } from './durable-consumer.js'
import { checkEventSubject, eventQueueKey } from './event-subject.js'
import { connectNats, type NatsLink } from './link.js'

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
  /** For a temporary durable: the server deletes it after so long without requests. */
  forgetAfterMs?: number
  log: Logger
  /**
   * Called for one event at a time and acknowledged once it resolves; rejected, the event comes again. An event can
   * come twice and, after a failure, later than others, so effects are keyed by `event.id` and a kept state is only
   * replaced by one of a higher `event.version`.
   */
  handle(event: EventOf<TypesMatching<Pattern>>): Promise<void>
  /**
   * Keeps an event that failed `maxDeliveries` times, or that cannot be read; where it rejects, the event is redelivered. Without it
   * no event is ever given up: it comes again, at most every `retry.maxMs`, for as long as the stream has it.
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
  counters(): ConsumerCounters
  /** Finishes the event in flight; later ones are returned immediately. */
  close(): Promise<void>
}

/**
 * Subscribes to platform events, typed by the catalogue, at least once. An event that fails keeps back the later
 * ones of its resource that are here, and is tried again with growing delay. Types this build does not know
 * are acknowledged and counted as skipped.
 */
export function subscribeEvents<const Pattern extends CatalogPattern>(
  options: SubscribeEventsOptions<Pattern>,
): EventSubscription {
  const { durable, patterns, log, handle, onDead, tenant, prefix, ...others } = options
  if (patterns.length === 0) throw new Error(`${durable} subscribes to nothing: name at least one pattern`)
  const names = natsNames(prefix)
  const link = 'url' in options ? connectNats({ url: options.url, name: durable, log }) : options.link

  const consumer = durableConsumer<EventOf<EventType>>({
    ...others,
    link,
    stream: names.eventsStream,
    durable,
    log,
    filterSubjects: names.eventFilters(patterns, tenant),
    maxBatch: 1,
    read(message) {
      const event = parseEvent(message.json())
      if (event === null) return null
      checkEventSubject(names, message, event)
      return { event, queueKey: eventQueueKey(event), tenant: event.workspaceId }
    },
    async apply(batch) {
      // The server filters by these patterns, so every event is of a type they cover.
      for (const { event } of batch) await handle(event as EventOf<TypesMatching<Pattern>>)
    },
    ...(onDead && {
      onDead: (message, error) =>
        onDead({ subject: message.subject, body: message.string(), deliveries: message.deliveries, error }),
    }),
  })

  return {
    counters: consumer.counters,
    async close() {
      await consumer.close()
      if ('url' in options) await link.close()
    },
  }
}
