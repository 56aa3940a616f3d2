import { type NatsNames, PlatformEvent } from '@opsplane/contracts'
import {
  type ConsumerCounters,
  durableConsumer,
  lineOf,
  type NatsLink,
  type Received,
  refuseMismatch,
  type StreamMessage,
  streamPlaces,
} from '@opsplane/nats'
import { type Database, type Drizzle, isDependencyAway, isTransient } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { createConsumerTables } from './consumer-tables.js'
import { type EventOrigin, originOf } from './event-origin.js'
import { startRedrive } from './redrive.js'
import { spacedCheckpoint } from './spaced-checkpoint.js'

/** A drizzle transaction; `tx.execute` takes statements written by hand. */
export type Transaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0]

export interface ConsumerSettings {
  database: Database
  link: NatsLink
  names: NatsNames
  /** `<service>-<entity>-<purpose>`: the durable's name, and the consumer in checkpoints and dead letters. */
  durable: string
  /** Whole subjects with wildcards; everything when absent. */
  filterSubjects?: readonly string[]
  /** Where a new durable begins; at the oldest event kept unless given. */
  start?: 'oldest' | 'new'
  log: Logger
  maxBatch?: number
  /** How many batches may be applied side by side; one unless given. The events of an aggregate stay in order. */
  batchesInFlight?: number
  /** Most events delivered and not acknowledged yet, which bounds a batch as well. */
  maxAckPending?: number
  /** Least time between the beginnings of batches that are not full: fewer and larger ones, where nobody waits. */
  spacingMs?: number
  /** After how many failures an event becomes a dead letter. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** From when on the server delivers again what a process that died has held. */
  ackWaitMs?: number
}

export interface Handling {
  /**
   * Applies the events through `tx`, which is committed before they are acknowledged. An event can come again
   * and a later one of another aggregate first, so effects are keyed by the event's id (a unique column and ON
   * CONFLICT DO NOTHING) and a kept state is only replaced by one of a higher version.
   */
  handle(events: PlatformEvent[], tx: Transaction, batch: EventBatch): Promise<void>
  perform?: never
}

export interface Performing {
  /**
   * In place of `handle`, where the effects commit by themselves and change nothing when they are repeated. The
   * checkpoint is then written by itself, at most every second, and a batch that has no effect is no statement.
   */
  perform(events: PlatformEvent[], batch: EventBatch): Promise<void>
  handle?: never
}

/** Where the events of a batch come from. */
export interface EventBatch {
  /** Of each of them. */
  origins: readonly EventOrigin[]
  /** Asks where they stand in the stream: one text for each of them, see StreamPlaces. */
  places(): Promise<string[]>
}

export type ConsumeEventsOptions = ConsumerSettings & (Handling | Performing)

export interface EventConsumer {
  counters(): ConsumerCounters
  /** Finishes the batches in hand. */
  close(): Promise<void>
}

/**
 * Consumes platform events in batches, effects and checkpoint in one transaction. An event that fails comes again with
 * growing delay, keeps back later ones of its aggregate, and ends as a dead letter, as does at once what nobody can read
 * or what came under the subject of another. While Postgres or another service is away the events wait, which does not
 * count as a delivery.
 */
export function consumeEvents(options: ConsumeEventsOptions): EventConsumer {
  const { database, link, names, durable, handle: _, perform: __, filterSubjects, ...settings } = options
  const tables = createConsumerTables(database, durable)
  const checkpoint = spacedCheckpoint(database.sql, durable, options.log)
  const places = streamPlaces(link, names.eventsStream)

  const apply = async (received: Received<PlatformEvent>[]) => {
    const events = received.map(({ event }) => event)
    const messages = received.map(({ message }) => message)
    const batch = { origins: messages.map(originOf), places: () => places.of(messages) }
    if (options.perform) {
      await options.perform(events, batch)
      const last = received.at(-1)
      if (last) checkpoint.advance(last.message.seq, last.event.id, received.length)
      return
    }
    await database.db.transaction(async (tx) => {
      await options.handle(events, tx, batch)
      await tables.advance(received, tx)
    })
  }

  const read = (message: Pick<StreamMessage, 'subject'>, json: unknown) => {
    const event = PlatformEvent.parse(json)
    refuseMismatch(names, message, event)
    return event
  }

  const consumer = durableConsumer<PlatformEvent>({
    ...settings,
    link,
    stream: names.eventsStream,
    durable,
    ...(filterSubjects && { filterSubjects }),
    onStart: places.forget,
    read(message) {
      const event = read(message, message.json())
      return { event, line: lineOf(event), lane: event.workspaceId }
    },
    apply,
    isAway: isDependencyAway,
    isTransient,
    onDead: (message, error) => tables.deadLetter(message, error),
  })

  const redrive = startRedrive({
    ...{ database, link, names, consumer: durable, log: settings.log },
    async apply(letter, tx) {
      const event = read(letter, JSON.parse(letter.payload))
      const { source, sourcePosition: position, streamSequence: seq } = letter
      const batch = {
        origins: [{ source, position, redelivered: true }],
        places: () => places.of([{ seq, storedMs: Date.parse(event.createdAt) }]),
      }
      if (options.perform) await options.perform([event], batch)
      else await options.handle([event], tx, batch)
    },
  })

  return {
    counters: consumer.counters,
    async close() {
      await Promise.all([consumer.close(), redrive.close()])
      await checkpoint.close()
    },
  }
}
