import { type NatsNames, PlatformEvent } from '@opsplane/contracts'
import {
  type DurableConsumerOptions,
  durableConsumer,
  giveBackDelayMs,
  type NatsLink,
  streamPlaces,
} from '@opsplane/nats'
import { type Database, type Drizzle, isDependencyAway } from '@opsplane/postgres'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { createConsumerTables } from './consumer-tables.js'

/** A message as the handler loop needs it; JetStream's JsMsg is one. */
export type Message = Parameters<DurableConsumerOptions['onBatch']>[0][number]

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
  /** Most events delivered and not acknowledged yet, which bounds a batch as well. */
  maxAckPending?: number
  /** Least time between the beginnings of batches that are not full: fewer and larger ones, where nobody waits. */
  spacingMs?: number
  /** After how many deliveries a failing event becomes a dead letter. */
  maxDeliveries?: number
  retry?: { baseMs: number; maxMs: number }
  /** From when on the server delivers an unacknowledged event again. */
  ackWaitMs?: number
}

export interface Handling {
  /**
   * Applies the events through `tx`, which is committed before they are acknowledged. An event can come again
   * and a later one of another aggregate first, so effects are keyed by the event's id (a unique column and ON
   * CONFLICT DO NOTHING) and a kept state is only replaced by one of a higher version.
   */
  handle(events: PlatformEvent[], tx: Transaction, places: Places): Promise<void>
  perform?: never
}

export interface Performing {
  /**
   * In place of `handle`, where the effects commit by themselves and change nothing when they are repeated. The
   * checkpoint is then a statement of its own, and a batch that has no effect is no transaction.
   */
  perform(events: PlatformEvent[], places: Places): Promise<void>
  handle?: never
}

/** Asks where the events of a batch stand in the stream: one text for each of them, see StreamPlaces. */
type Places = () => Promise<string[]>

export type ConsumeEventsOptions = ConsumerSettings & (Handling | Performing)

export interface ConsumerCounters {
  handled: number
  retried: number
  deadLettered: number
}

export interface EventConsumer {
  counters(): ConsumerCounters
  /** Finishes the batch in hand. */
  close(): Promise<void>
}

type Received = { message: Message; event: PlatformEvent }

/**
 * Consumes platform events in batches. A batch that fails is repeated event by event; an event that fails comes
 * again with growing delay, keeps back later ones of its aggregate from the same batch, and ends as a dead letter.
 * While Postgres or another service is away the batch waits, which does not count as a delivery.
 */
export function consumeEvents(options: ConsumeEventsOptions): EventConsumer {
  const { database, durable, log, maxDeliveries = 10, retry = { baseMs: 1_000, maxMs: 300_000 } } = options
  const tables = createConsumerTables(database, durable)
  const counters: ConsumerCounters = { handled: 0, retried: 0, deadLettered: 0 }
  const closing = new AbortController()
  const places = streamPlaces(options.link, options.names.eventsStream)

  const apply = async (batch: Received[]) => {
    const events = batch.map(({ event }) => event)
    const placesOf = () => places.of(batch.map(({ message }) => message))
    if (options.perform) {
      await options.perform(events, placesOf)
      return tables.advance(batch)
    }
    await database.db.transaction(async (tx) => {
      await options.handle(events, tx, placesOf)
      await tables.advance(batch, tx)
    })
  }

  /** Repeats while a dependency is away, telling the server that the messages are still in hand. */
  const patiently = async (batch: Message[], run: () => Promise<void>) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await run()
        if (attempt > 1) log.info({ durable }, 'consuming again')
        return
      } catch (error) {
        if (!isDependencyAway(error) || closing.signal.aborted) throw error
        if (attempt === 1) log.warn({ err: error, durable }, 'a dependency is away, events wait')
        for (const message of batch) message.working()
        await delay(
          retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 5_000 }),
          closing.signal,
        )
      }
    }
  }

  const giveUp = async (message: Message, error: unknown) => {
    log.error({ err: error, durable, subject: message.subject, seq: message.seq }, 'event given up')
    await patiently([message], () => tables.deadLetter(message, error))
    message.term()
    counters.deadLettered++
  }

  const putBack = (message: Message) => {
    const attempt = message.info.deliveryCount
    message.nak(retryDelayMs({ attempt, strategy: 'exponential', ...retry }))
    counters.retried++
  }

  const handled = (batch: Received[]) => {
    for (const { message } of batch) message.ack()
    counters.handled += batch.length
  }

  const oneByOne = async (batch: Received[]) => {
    const held = new Set<string>()
    for (const received of batch) {
      const { message, event } = received
      const aggregate = `${event.resource.type}/${event.resource.id}`
      if (held.has(aggregate)) {
        putBack(message)
        continue
      }
      try {
        await patiently([message], () => apply([received]))
        handled([received])
      } catch (error) {
        if (closing.signal.aborted && isDependencyAway(error)) return message.nak(giveBackDelayMs)
        if (message.info.deliveryCount >= maxDeliveries) {
          await giveUp(message, error)
          continue
        }
        if (message.info.deliveryCount === 1)
          log.warn({ err: error, durable, eventId: event.id }, 'event failed')
        held.add(aggregate)
        putBack(message)
      }
    }
  }

  const onBatch = async (messages: Message[]) => {
    const batch: Received[] = []
    for (const message of messages) {
      const parsed = parse(message)
      if (parsed.event) batch.push({ message, event: parsed.event })
      else await giveUp(message, parsed.error)
    }
    if (batch.length === 0) return
    try {
      await patiently(messages, () => apply(batch))
    } catch (error) {
      if (closing.signal.aborted && isDependencyAway(error))
        for (const { message } of batch) message.nak(giveBackDelayMs)
      else await oneByOne(batch)
      return
    }
    handled(batch)
  }

  const consumer = durableConsumer({
    link: options.link,
    stream: options.names.eventsStream,
    durable,
    log,
    onStart: places.forget,
    onBatch,
    ...(options.filterSubjects ? { filterSubjects: options.filterSubjects } : {}),
    ...(options.start ? { start: options.start } : {}),
    ...(options.spacingMs ? { spacingMs: options.spacingMs } : {}),
    ...(options.maxBatch ? { maxBatch: options.maxBatch } : {}),
    ...(options.maxAckPending ? { maxAckPending: options.maxAckPending } : {}),
    ...(options.ackWaitMs ? { ackWaitMs: options.ackWaitMs } : {}),
  })
  return {
    counters: () => ({ ...counters }),
    async close() {
      closing.abort()
      await consumer.close()
    },
  }
}

function parse(message: Message): { event: PlatformEvent } | { event: null; error: unknown } {
  try {
    return { event: PlatformEvent.parse(message.json()) }
  } catch (error) {
    return { event: null, error }
  }
}
