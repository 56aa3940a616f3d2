import type { NatsNames } from '@opsplane/contracts'
import { ensureStreams, type NatsLink, type StreamOptions } from '@opsplane/nats'
import { type Logger, retryDelayMs } from '@opsplane/runtime'
import type { EventRow } from './commit.js'
import type { LoggedEvent } from './logged-events.js'
import { type PublishOutcome, publishEvents } from './publish-events.js'
import { openRelaySession } from './relay-session.js'
import { createWaker } from './waker.js'

export interface RelayOptions {
  databaseUrl: string
  schema: string
  link: NatsLink
  names: NatsNames
  log: Logger
  streams?: StreamOptions
  /** Most events of one round. */
  batchSize?: number
  pollMs?: number
  /**
   * Least time from the beginning of one round to that of the next. An event after a pause is published at once; under
   * load rounds, and the batches of every consumer, are fewer and larger.
   */
  spacingMs?: number
}

export interface RelayCounters {
  /** Events published by this process. */
  published: number
  /** Age of the oldest event of the last round; 0 when nothing waits. */
  lagMs: number
  /** Whether this process is the service's relay. */
  active: boolean
}

export interface Relay {
  /** Takes events of a commit that is known to have happened; cheap, and never needed for correctness. */
  offer(events: readonly (EventRow & { position: string })[]): void
  /** Says that there is something to publish; cheap, and never needed for correctness. */
  wake(): void
  counters(): RelayCounters
  /** Finishes the round in hand and gives the lock up. */
  close(): Promise<void>
}

/** Another replica of the service is the relay; how often to see whether it still is. */
const standbyPollMs = 1_000

/**
 * Moves events from Postgres to JetStream: reads what is unpublished in the order of the log, publishes, marks.
 * Ending anywhere in between repeats a publish, which the stream recognizes by the event's id. While NATS or
 * Postgres is away it keeps trying, and logs only that they went and came back.
 */
export function startRelay(options: RelayOptions): Relay {
  const { link, names, log, batchSize = 500, pollMs = 100, spacingMs = 20 } = options
  const session = openRelaySession(options.databaseUrl, options.schema)
  const waker = createWaker()
  const counters: RelayCounters = { published: 0, lagMs: 0, active: false }
  let failures = 0
  let streamsReady = false
  let published: LoggedEvent[] = []

  /** One round; returns how long to wait for the next. */
  const round = async (): Promise<number> => {
    if (!link.connected()) {
      await markLast()
      return pollMs
    }
    if (!streamsReady) {
      await ensureStreams(link, names, { ...options.streams, log, signal: waker.closing })
      streamsReady = true
    }
    if (!counters.active && !(await session.acquire())) return standbyPollMs
    const startedAt = performance.now()
    const events = await next(batchSize)
    if (!events) return 0
    counters.lagMs = events[0] ? Math.max(0, Date.now() - Date.parse(events[0].createdAt)) : 0
    if (events.length === 0) return pollMs

    const outcome = await publishEvents(await link.ready(), names, events)
    await record(outcome)
    if (outcome.failure !== undefined) {
      await markLast()
      throw outcome.failure
    }
    // What is published is marked by the statement that reads on.
    if (events.length < batchSize) await waker.pause(spacingMs - (performance.now() - startedAt))
    return 0
  }

  /** Marks what the last round has published, and reads what is next. Undefined when this is no longer the relay. */
  const next = async (limit: number) => {
    const events = await session.next(published, limit)
    published = []
    counters.active = events !== undefined
    return events
  }

  const markLast = async () => {
    if (published.length > 0) await next(0)
  }

  const record = async (outcome: PublishOutcome) => {
    published = outcome.published
    counters.published += published.length
    const { oversized } = outcome
    if (oversized.length === 0) return
    log.error({ eventIds: oversized.map((event) => event.id) }, 'events are too large for NATS, given up')
    await session.giveUp(oversized, 'larger than the max_payload of the NATS server')
  }

  const run = async () => {
    while (!waker.closing.aborted) {
      try {
        const waitMs = await round()
        if (failures > 0) log.info('the relay is publishing again')
        failures = 0
        if (waitMs > 0) await waker.wait(waitMs)
      } catch (error) {
        if (waker.closing.aborted) return
        failures++
        if (failures === 1) log.warn({ err: error }, 'the relay is interrupted, still trying')
        counters.active = false
        // The stream itself may be what is missing.
        streamsReady = false
        await waker.pause(
          retryDelayMs({ attempt: failures, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        )
      }
    }
  }
  const running = run()

  return {
    offer: waker.wake,
    wake: waker.wake,
    counters: () => ({ ...counters }),
    async close() {
      waker.close()
      await running
      // Left unmarked, they are published again by whoever is next, which the stream recognizes.
      await markLast().catch(() => {})
      await session.close()
      counters.active = false
    },
  }
}
