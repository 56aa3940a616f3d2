import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsNames } from '@opsplane/contracts'
import {
  ensureStreams,
  type NatsLink,
  openStreamManager,
  type StreamOptions,
  streamInfo,
} from '@opsplane/nats'
import { type Logger, retryDelayMs, systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { noTracing, type Tracing } from '@opsplane/telemetry'
import type { CommittedEvent } from '../append/commit.js'
import { createWaker } from '../waker.js'
import type { StreamMemory } from './inspect-stream.js'
import { createRefillPace } from './refill-pace.js'
import { type Leadership, type LeadershipEnd, startLeadership } from './relay-leadership.js'
import { trackLease } from './relay-lease.js'
import { createRelayStore, type Lease, type RelayDatabase, type RelayStore } from './relay-store.js'
import { verifyStream } from './verify-stream.js'

interface RelayOptions extends RelayParts {
  /** Closed after the relay, by the caller. */
  database: RelayDatabase
}

interface RelayParts {
  schema: string
  link: NatsLink
  names: NatsNames
  /** Unique name of this replica. A restarted replica keeps it, so that it can continue immediately. */
  instanceId: string
  log: Logger
  tracing?: Tracing
  streams?: StreamOptions
}

interface RelayCounters {
  /** Events published by this process. */
  published: number
  /** Known events that wait to be published. */
  waiting: number
  /** Age of the last published event when it was published. */
  lagMs: number
  /** Whether this process is the service's relay. */
  active: boolean
  /** How often this process has refilled a stream. */
  refills: number
  /** Number of consecutive refills after which the stream still lacked published events. */
  refillsFailed: number
}

export interface Relay {
  /**
   * Accepts the events of a completed commit. Publishes them immediately if this process is the service's relay and
   * all earlier events are published; otherwise notifies the relay. Cheap, and never needed for correctness.
   */
  offer(events: readonly CommittedEvent[]): void
  /** Notifies the relay that there are events to publish; cheap, and never needed for correctness. */
  wake(): void
  counters(): RelayCounters
  /** Finishes the events in flight and releases the lease. */
  close(): Promise<void>
}

/** The log's time format: events published from memory must look like those published from the log. */
const logged = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const standbyMs = 5_000
const hintSpacingMs = 5
/** The first fruitless term may concern a deleted stream that exists again by now. */
const maxFruitless = 2
const reconnectAfter = 8
/** Interval of inspections while a refill waits; shorter than the lease, which each inspection renews. */
const reinspectMs = 2_000

/**
 * Publishes events from Postgres to JetStream. One replica of a service does so at a time, the one with the lease;
 * it publishes its own commits from memory and everything else from the outbox. A crash at any point repeats a
 * publish, which the stream recognizes by the event's id. A stream that lost published events is refilled. While
 * NATS or Postgres is unavailable the relay keeps retrying, and logs only the start and the end of the outage.
 */
export function startRelay(options: RelayOptions): Relay {
  return runRelay({ ...options, store: createRelayStore(options.database), timers: systemTimers })
}

/** The relay over a given store and timers: simulations supply their own. */
export function runRelay(options: RelayParts & { store: RelayStore; timers: Timers }): Relay {
  const { link, names, schema, instanceId, log, store, timers } = options
  const waker = createWaker(timers)
  const counters = { published: 0, lagMs: 0, refills: 0 }
  const pace = createRefillPace()
  let term: Leadership | undefined
  let fence: string | undefined
  let streamsReady = false
  let witness: StreamMemory | undefined
  let failures = 0
  /** Number of consecutive terms that ended because the stream accepted nothing, although it looked intact. */
  let fruitless = 0

  /** One term, or a period as a standby. */
  const attempt = async (): Promise<void> => {
    const connection = await connected(link, waker.closing)
    const manager = await openStreamManager(connection)
    // A replica that cannot reach JetStream leaves the lease to others.
    await streamInfo(manager, names.eventsStream)
    const requestedAt = timers.now()
    const acquiredLease = await store.acquireLease(instanceId, fence)
    if (!('fence' in acquiredLease)) {
      recovered()
      return standBy(connection, acquiredLease.freeInMs)
    }
    fence = acquiredLease.fence
    const parts = {
      store,
      lease: trackLease(acquiredLease, requestedAt, timers),
      link,
      connection,
      manager,
      names,
      schema,
      log,
      tracing: options.tracing ?? noTracing,
      waker,
      timers,
    }
    let end: LeadershipEnd = 'closed'
    try {
      if (!streamsReady) await makeStreams()
      streamsReady = true
      const sound = await verifyStream({ ...parts, ensureStreams: makeStreams, witness, pace })
      if (!sound || waker.closing.aborted) return
      if ('waitMs' in sound) {
        end = 'changed'
        return await waker.pause(Math.min(sound.waitMs, reinspectMs))
      }
      if (sound.refilled) counters.refills++
      term = startLeadership({ ...parts, ...sound, onPublished, onSound: () => pace.sound(timers.now()) })
      if (fruitless < maxFruitless) recovered()
      const before = counters.published
      end = await term.over
      fruitless = end === 'changed' && counters.published === before ? fruitless + 1 : 0
      if (fruitless >= maxFruitless)
        end = { fault: new Error('the stream exists but acknowledges no events') }
      // A cluster's server may not know where the stream's leader is; another server does.
      if (fruitless % reconnectAfter === reconnectAfter - 1) await connection.reconnect().catch(() => {})
      if (typeof end === 'object') throw end.fault
    } finally {
      witness = term?.witness() ?? witness
      term = undefined
      if (end !== 'superseded' && end !== 'changed') await release(acquiredLease)
    }
  }

  const makeStreams = () =>
    ensureStreams(link, names, { ...options.streams, log, signal: waker.closing, timers })

  const freed = names.wakeSubject(schema, 'relay-free')
  const standBy = async (connection: NatsConnection, freeInMs: number) => {
    const subscription = connection.subscribe(freed, { callback: waker.wake })
    await waker.wait(freeInMs > 0 ? Math.min(freeInMs + 50, standbyMs) : standbyMs)
    if (!connection.isClosed()) subscription.unsubscribe()
  }
  /** Releases the lease and notifies standby replicas, so that one acquires it immediately. */
  const release = async (lease: Lease) => {
    await store.release(lease).catch(() => {})
    await publishCore(freed)
  }
  const publishCore = async (subject: string) => {
    if (!link.connected()) return
    const connection = await link.ready().catch(() => undefined)
    if (connection && !connection.isClosed()) connection.publish(subject)
  }

  const recovered = () => {
    if (failures > 0) log.info('the relay is publishing again')
    failures = 0
  }

  const onPublished = ({ createdAt }: { createdAt: string }) => {
    if (fruitless > 0) {
      fruitless = 0
      recovered()
    }
    counters.published++
    counters.lagMs = Math.max(0, timers.unixMs() - Date.parse(createdAt))
  }

  const run = async () => {
    while (!waker.closing.aborted) {
      try {
        await attempt()
      } catch (error) {
        if (waker.closing.aborted) return
        failures++
        if (failures === 1)
          log.warn({ err: error }, 'the relay cannot publish; events wait in Postgres and it keeps trying')
        await waker.pause(
          retryDelayMs({ attempt: failures, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        )
      }
    }
  }
  const running = run()

  let hinted: Timer | undefined
  /** Notifies the replica that has the lease. */
  const hint = () => {
    if (hinted || waker.closing.aborted) return
    hinted = timers.setTimeout(() => {
      hinted = undefined
      void publishCore(names.wakeSubject(schema, 'relay'))
    }, hintSpacingMs)
  }
  const wake = () => (term ? waker.wake() : hint())

  return {
    offer(events) {
      const readable = events.filter(({ createdAt }) => logged.test(createdAt))
      const areAllAccepted = term?.offer(readable) && readable.length === events.length
      if (!areAllAccepted) wake()
    },
    wake,
    counters: () => ({
      ...counters,
      waiting: term?.waiting() ?? 0,
      active: term !== undefined,
      refillsFailed: pace.failed,
    }),
    async close() {
      waker.close()
      timers.clearTimeout(hinted)
      term?.end('closed')
      await running
    },
  }
}

/** The connection, once it is up: a request on a disconnected one would only time out. */
async function connected(link: NatsLink, closing: AbortSignal) {
  const connection = await link.ready(closing)
  while (!link.connected() && !closing.aborted) {
    await new Promise<void>((resolve) => {
      const goOn = () => {
        stop()
        closing.removeEventListener('abort', goOn)
        resolve()
      }
      const stop = link.onChange(goOn)
      closing.addEventListener('abort', goOn)
    })
  }
  return connection
}
