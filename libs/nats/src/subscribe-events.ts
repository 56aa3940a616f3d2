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

/** An event that was given up: its unchanged bytes, and the reason. */
export interface DeadEvent {
  subject: string
  body: string
  deliveries: number
  error: unknown
}

export type SubscribeEventsOptions<Pattern extends CatalogPattern> = {
  /** Separates installations on one server: `NATS_PREFIX` of the platform. */
  prefix?: string
  /**
   * `<service>-<purpose>`: the name under which the position is kept. Several processes with the same name share the
   * events.
   */
  durable: string
  /** Event types, `prefix.*`, or `*`. */
  patterns: readonly Pattern[]
  /** Only events of this workspace, this environment; all if absent. */
  tenant?: Partial<TenantScope>
  /** Where a new durable starts; by default at the oldest stored event (a week). */
  start?: 'oldest' | 'new'
  /** For a temporary durable: the server deletes it after this time without requests. */
  forgetAfterMs?: number
  log: Logger
  /**
   * Called for one event at a time. The event is acknowledged once it resolves, and redelivered if it rejects. An
   * event can arrive twice and, after a failure, later than others, so effects must be keyed by `event.id`, and
   * stored state must only be replaced by state of a higher `event.version`.
   */
  handle(event: EventOf<TypesMatching<Pattern>>): Promise<void>
  /**
   * Records an event that failed `maxDeliveries` times, or that cannot be parsed; if it rejects, the event is
   * redelivered. Without it no event is ever given up: it is redelivered, at intervals of up to `retry.maxMs`, while
   * the stream has it.
   */
  onDead?(dead: DeadEvent): Promise<void>
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** Time after which another process receives the events of one that died; a live process may take longer. */
  ackWaitMs?: number
} & (
  | { link: NatsLink }
  | {
      /** `nats://host:port`: opens a connection, and closes it with the subscription. */
      url: string
    }
)

export interface EventSubscription {
  counters(): ConsumerCounters
  /** Finishes the event in flight; later ones are returned immediately. */
  close(): Promise<void>
}

/**
 * Subscribes to platform events, typed by the catalogue, with at-least-once delivery. A failing event delays later
 * events of its resource in this process, and is retried with growing delay. Types unknown to this build are
 * acknowledged and counted as skipped.
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
      // The server filters by these patterns, so every event has a type they cover.
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
