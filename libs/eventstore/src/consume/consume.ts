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

/** A consumer without what its rows are in. */
interface ConsumerParts {
  link: NatsLink
  names: NatsNames
  /** `<service>-<entity>-<purpose>`: the durable's name, and the consumer in checkpoints and dead letters. */
  durable: string
  /** Whole subjects with wildcards; everything when absent. */
  filterSubjects?: readonly string[]
  log: Logger
  tracing?: Tracing
  maxBatch?: number
  /** How many batches may be applied side by side; one unless given. The events of an aggregate stay in order. */
  batchesInFlight?: number
  /** Most events delivered and not acknowledged yet, which bounds a batch as well. */
  maxAckPending?: number
  /** Least time between the beginnings of batches that are not full: fewer and larger ones, where latency does not matter. */
  spacingMs?: number | (() => number)
  /** After how many failures an event becomes a dead letter. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** From when on the server delivers again what a process that died has held. */
  ackWaitMs?: number
  /** Fills from the logs what the stream has lost before it was handled. */
  history: HistoryOptions
  /** How old the low watermarks may be while it handles events, 5 s unless given; a request of the server each time. */
  lowWatermarksMs?: number
}

export interface Handling {
  /**
   * Applies the events through `tx`, which is committed before they are acknowledged. An event can come again
   * and a later one of another aggregate first, so effects are keyed by the event's id (a unique column and ON
   * CONFLICT DO NOTHING) and a kept state is only replaced by one of a higher version.
   */
  handle(events: PlatformEvent[], tx: Transaction, batch: EventBatch): Promise<void>
  perform?: never
  performLazily?: never
  verifyAll?: never
}

export interface Performing {
  /**
   * In place of `handle`, where the effects commit by themselves and change nothing when they are repeated. The
   * checkpoint is then written by itself, every 5 s, and a batch that has no effect is no statement.
   */
  perform(events: PlatformEvent[], batch: EventBatch): Promise<void>
  handle?: never
  performLazily?: never
  verifyAll?: never
}

export interface LazyHandling {
  /**
   * As `perform`, where most events are irrelevant by their subjects: what it does not read is skipped without
   * being verified or parsed.
   */
  performLazily(events: readonly UnreadEvent[], batch: EventBatch): Promise<void>
  /** Whether also what is not read is checked, for who keeps something of it. */
  verifyAll?: boolean
  handle?: never
  perform?: never
}

/** Where the events of a batch come from. */
export interface EventBatch {
  /** Of each of them. */
  origins: readonly EventOrigin[]
  /** Asks where they stand in the stream: one text for each of them, see StreamSequences. */
  sequences(): Promise<string[]>
}

/** One way of the three. */
export type EventHandling = Handling | Performing | LazyHandling

export type ConsumeEventsOptions = ConsumerSettings & EventHandling

export interface EventConsumer {
  counters(): ConsumerCounters
  /** Asks the server how far it has come. Rejects while that is away. */
  place(): Promise<ConsumerPlace>
  /** Up to where the log of each service is handled without a gap, by source. */
  lowWatermarks(): ReadonlyMap<string, number>
  /** Whether everything that is in the stream by now is handled. Rejects while the server is away. */
  isCaughtUp(): Promise<boolean>
  /** Finishes the batches in flight. */
  close(): Promise<void>
}

/**
 * Consumes platform events in batches, effects and checkpoint in one transaction. An event that fails comes again with
 * growing delay, keeps back later ones of its aggregate, and ends as a dead letter, as does immediately what cannot be read
 * or what came under the subject of another. While Postgres or another service is away the events wait, which does not
 * count as a delivery.
 */
export function consumeEvents({ database, ...options }: ConsumeEventsOptions): EventConsumer {
  return runConsumer(options, createConsumerTables(database, options.durable), systemTimers)
}

/** The consumer over the rows it writes: a simulation has tables and timers of its own. */
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

  /** Events of the stream, or of a log, which no checkpoint tells of. */
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

  /** Of what was passed over, what the stream knows it by, which is nearly always the same. */
  const idOf = (received: Received<PlatformEvent>) =>
    options.performLazily ? (received.message.header(eventHeaders.messageId) ?? '') : received.event.id
  const unreadEvent = (received: Received<PlatformEvent>) => toUnreadEvent(names, received)
  /** The position of a log is only accepted from verified events: one of them for the whole batch. */
  const noteLowWatermarks = (received: readonly Received<PlatformEvent>[]) => {
    for (const last of lastOfEachSource(received)) {
      try {
        if (isVouched || last.event) past.lowWatermarks.note(last.message)
      } catch {
        // Where it is not relevant, it is no dead letter either.
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
