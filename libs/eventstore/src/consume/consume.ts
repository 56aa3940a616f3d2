import { eventHeaders, type NatsNames, PlatformEvent, parseExact } from '@opsplane/contracts'
import {
  type ConsumerCounters,
  type ConsumerPlace,
  checkEventSubject,
  durableConsumer,
  eventQueueKey,
  type NatsLink,
  type Received,
  SignatureError,
  type StreamMessage,
  streamSequences,
} from '@opsplane/nats'
import { type Database, isDependencyUnavailable, isTransient } from '@opsplane/postgres'
import { type Logger, systemTimers, type Timers } from '@opsplane/runtime'
import { noTracing, type Tracing } from '@opsplane/telemetry'
import type { HistoryOptions } from './backfill.js'
import { type ConsumerTables, createConsumerTables } from './consumer-tables.js'
import { eventReader, verifiedEventReader } from './event-cache.js'
import { type EventOrigin, parseEventOrigin } from './event-origin.js'
import { followEvents } from './follow-events.js'
import { startRedrive } from './redrive.js'
import { trackConsumerProgress } from './track-progress.js'
import type { Transaction } from './transaction.js'
import { lastOfEachSource, toUnreadEvent, type UnreadEvent, unreadMessage } from './unread-event.js'

const eventsOf = (received: readonly Received<PlatformEvent>[]) => received.map(({ event }) => event)

export interface ConsumerSettings extends ConsumerParts {
  database: Database
}

/** Consumer options without the database. */
interface ConsumerParts {
  link: NatsLink
  names: NatsNames
  /** `<service>-<entity>-<purpose>`: the name of the durable, and of the consumer in checkpoints and dead letters. */
  durable: string
  /** Full subjects with wildcards; all subjects if absent. */
  filterSubjects?: readonly string[]
  log: Logger
  tracing?: Tracing
  maxBatch?: number
  /** Number of batches that may be applied concurrently; 1 if absent. The events of an aggregate stay in order. */
  batchesInFlight?: number
  /** Maximum number of delivered but unacknowledged events, which also bounds a batch. */
  maxAckPending?: number
  /**
   * Minimum time between the starts of batches that are not full: yields fewer and larger batches where latency does
   * not matter.
   */
  spacingMs?: number | (() => number)
  /** The number of failures after which an event becomes a dead letter. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** Time after which the server redelivers the messages of a process that died. */
  ackWaitMs?: number
  /** Backfills from the logs the events the stream lost before they were handled. */
  history: HistoryOptions
  /**
   * Maximum age of the low watermarks while the consumer handles events; 5 s if absent. Each refresh is one server
   * request.
   */
  lowWatermarksMs?: number
}

export interface Handling {
  /**
   * Applies the events through `tx`, which is committed before they are acknowledged. An event can be redelivered,
   * and a later event of another aggregate can arrive first. Effects are therefore keyed by the event's id (a unique
   * column and ON CONFLICT DO NOTHING), and stored state is replaced only by state of a higher version.
   */
  handle(events: PlatformEvent[], tx: Transaction, batch: EventBatch): Promise<void>
  perform?: never
  performLazily?: never
  verifyAll?: never
}

export interface Performing {
  /**
   * Alternative to `handle` for effects that commit on their own and are idempotent. The checkpoint is then written
   * separately, every 5 s, and a batch without effects executes no statement.
   */
  perform(events: PlatformEvent[], batch: EventBatch): Promise<void>
  handle?: never
  performLazily?: never
  verifyAll?: never
}

export interface LazyHandling {
  /**
   * Like `perform`, for consumers that can ignore most events by their subjects: events it does not read are skipped
   * without being verified or parsed.
   */
  performLazily(events: readonly UnreadEvent[], batch: EventBatch): Promise<void>
  /** Whether unread events are verified too, for consumers that store part of them. */
  verifyAll?: boolean
  handle?: never
  perform?: never
}

/** Origin of a batch's events. */
export interface EventBatch {
  /** One for each event. */
  origins: readonly EventOrigin[]
  /** Queries the events' positions in the stream: one text for each event, see StreamSequences. */
  sequences(): Promise<string[]>
}

/** One of the three ways to handle events. */
export type EventHandling = Handling | Performing | LazyHandling

export type ConsumeEventsOptions = ConsumerSettings & EventHandling

export interface EventConsumer {
  counters(): ConsumerCounters
  /** Queries the server for the consumer's place. Rejects while the server is unavailable. */
  place(): Promise<ConsumerPlace>
  /** The position up to which the log of each service has been handled without a gap, by source. */
  lowWatermarks(): ReadonlyMap<string, number>
  /** Whether everything currently in the stream has been handled. Rejects while the server is unavailable. */
  isCaughtUp(): Promise<boolean>
  /** Finishes the batches in flight. */
  close(): Promise<void>
}

/**
 * Consumes platform events in batches, with effects and checkpoint in one transaction. A failed event is
 * redelivered with growing delay, delays later events of its aggregate, and ends as a dead letter. Unreadable
 * messages, and messages whose subject does not belong to their event, become dead letters immediately. While
 * Postgres or another service is unavailable the events wait, which does not count as a delivery.
 */
export function consumeEvents({ database, ...options }: ConsumeEventsOptions): EventConsumer {
  return runConsumer(options, createConsumerTables(database, options.durable), systemTimers)
}

/** The consumer over given tables and timers: simulations supply their own. */
export function runConsumer(
  options: ConsumerParts & EventHandling,
  tables: ConsumerTables,
  timers: Timers,
): EventConsumer {
  const {
    link,
    names,
    durable,
    handle: _,
    perform: __,
    performLazily: ___,
    verifyAll: isVouched = false,
    filterSubjects,
    ...settings
  } = options
  const past = trackConsumerProgress({ ...options, tables, timers, apply: (events) => apply(events, false) })
  const sequences = streamSequences(link, names.eventsStream)
  const reader = isVouched ? verifiedEventReader(link, names) : eventReader(link, filterSubjects)
  const follow = followEvents(options.tracing ?? noTracing, durable)

  /** Applies events of the stream, or of a log; events of a log do not move the checkpoint. */
  const apply = async (received: Received<PlatformEvent>[], isOfStream = true) => {
    const messages = received.map(({ message }) => message)
    const followed = follow(received)
    const origins = followed.origins ?? messages.map(parseEventOrigin)
    const batch = { origins, sequences: () => sequences.of(messages) }
    await followed.run(() => applied(batch, received, isOfStream))
  }
  const applied = async (batch: EventBatch, received: Received<PlatformEvent>[], isOfStream: boolean) => {
    if (options.performLazily) await options.performLazily(received.map(unreadEvent), batch)
    if (options.perform) await options.perform(eventsOf(received), batch)
    if (!options.handle) {
      const last = received.at(-1)
      if (last && isOfStream)
        past.advance({
          streamSequence: last.message.seq,
          eventId: idOf(last),
          handled: received.length,
        })
      return
    }
    const events = eventsOf(received)
    await tables.transaction(async (tx) => {
      await options.handle(events, tx, batch)
      if (isOfStream) await tables.advance(received, tx)
    })
  }

  /**
   * For an event that may have been skipped unread: its message id in the stream, which nearly always equals the
   * event's id.
   */
  const idOf = (received: Received<PlatformEvent>) =>
    options.performLazily ? (received.message.header(eventHeaders.messageId) ?? '') : received.event.id
  const unreadEvent = (received: Received<PlatformEvent>) => toUnreadEvent(names, received)
  /** A log position is only accepted from a verified event: one per source for the whole batch. */
  const noteLowWatermarks = (received: readonly Received<PlatformEvent>[]) => {
    for (const last of lastOfEachSource(received)) {
      try {
        if (isVouched || last.event) past.lowWatermarks.note(last.message)
      } catch {
        // An unreadable event that is not relevant does not become a dead letter either.
      }
    }
  }
  const readWhole = (message: StreamMessage) => {
    const event = reader.read(message)
    checkEventSubject(names, message, event)
    return event
  }

  const consumer = durableConsumer<PlatformEvent>({
    ...settings,
    timers,
    link,
    stream: names.eventsStream,
    durable,
    ...(filterSubjects && { filterSubjects }),
    async prepare(place) {
      sequences.forget()
      await past.prepare(place)
    },
    read(message) {
      reader.arrived(message)
      const unread = options.performLazily && unreadMessage(names, message, readWhole)
      if (unread) return unread
      const event = readWhole(message)
      return { event, queueKey: eventQueueKey(event), tenant: event.workspaceId }
    },
    async apply(received) {
      past.lookSoon(consumer)
      await apply(received)
      noteLowWatermarks(received)
      past.lookSoon(consumer)
    },
    isAway: isDependencyUnavailable,
    isTransient,
    onDead: (message, error) => tables.deadLetter(message, error),
  })

  const redrive = startRedrive({
    ...{ store: tables, link, names, consumer: durable, log: settings.log, timers },
    async apply(letter, tx) {
      if (letter.error.startsWith(`${SignatureError.name}:`))
        throw new SignatureError('it can only be published again, by its service')
      const event = PlatformEvent.parse(parseExact(letter.payload))
      checkEventSubject(names, letter, event)
      const { source, sourcePosition: position, streamSequence: seq } = letter
      const batch = {
        origins: [{ source, position, redelivered: true }],
        sequences: () => sequences.of([{ seq, storedMs: Date.parse(event.createdAt) }]),
      }
      if (options.performLazily) await options.performLazily([{ ...event, read: () => event }], batch)
      else if (options.perform) await options.perform([event], batch)
      else await options.handle([event], tx, batch)
    },
  })

  return {
    counters: consumer.counters,
    place: consumer.place,
    lowWatermarks: () => past.lowWatermarks.current(),
    async isCaughtUp() {
      if (!past.isFilled()) return false
      const { pending, ackPending } = await consumer.place()
      return pending === 0 && ackPending === 0
    },
    async close() {
      await Promise.all([past.close(consumer.close()), redrive.close()])
      reader.close()
    },
  }
}
