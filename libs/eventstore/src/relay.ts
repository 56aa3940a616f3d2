import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsNames } from '@opsplane/contracts'
import { ensureStreams, type NatsLink, type StreamOptions, streamInfo } from '@opsplane/nats'
import { type Logger, retryDelayMs } from '@opsplane/runtime'
import type { EventRow } from './commit.js'
import { type HeldLease, holdLease } from './relay-lease.js'
import { openRelayStore } from './relay-store.js'
import { ackTimeoutMs, openTerm, type Term } from './relay-term.js'
import { type Finding, inspectStream } from './stream-guard.js'
import { createStreamProgress } from './stream-progress.js'
import { createWaker } from './waker.js'

export interface RelayOptions {
  databaseUrl: string
  schema: string
  link: NatsLink
  names: NatsNames
  /** Names this replica: no two share it, and a restarted one keeps it, so that it goes on at once. */
  instanceId: string
  log: Logger
  streams?: StreamOptions
}

export interface RelayCounters {
  /** Events published by this process. */
  published: number
  /** Events it knows of that wait. */
  waiting: number
  /** How old the last published event was then. */
  lagMs: number
  /** Whether this process is the service's relay. */
  active: boolean
}

export interface Relay {
  /**
   * Takes events of a commit that is known to have happened, and publishes them at once where this is the service's
   * relay and all before them are published; otherwise says that there is something. Cheap, and never needed for
   * correctness.
   */
  offer(events: readonly (EventRow & { position: string })[]): void
  /** Says that there is something to publish; cheap, and never needed for correctness. */
  wake(): void
  counters(): RelayCounters
  /** Finishes what is in flight and gives the lease up. */
  close(): Promise<void>
}

/** A time as the log prints it: what is published from memory reads as what is published from the log. */
const logged = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const standbyMs = 5_000
const hintSpacingMs = 5

/**
 * Moves events from Postgres to JetStream. One replica of a service does so at a time, the one with the lease; it
 * publishes what it commits from memory and everything else from the outbox. Ending anywhere in between repeats a
 * publish, which the stream recognizes by the event's id. A stream that lost what was published is filled again. While
 * NATS or Postgres is away it keeps trying, and logs only that they went and came back.
 */
export function startRelay(options: RelayOptions): Relay {
  const { link, names, schema, instanceId, log } = options
  const store = openRelayStore(options.databaseUrl, schema)
  const waker = createWaker()
  const counters = { published: 0, lagMs: 0 }
  let term: Term | undefined
  let fence: string | undefined
  let streamsReady = false
  let failures = 0

  /** One term, if the lease is free; returns how long to wait before the next. */
  const attempt = async (): Promise<number> => {
    const connection = await connected(link, waker.closing)
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: ackTimeoutMs })
    // Who cannot reach JetStream leaves the lease to others.
    await streamInfo(manager, names.eventsStream)
    const askedAt = performance.now()
    const taken = await store.take(instanceId, fence, fence === undefined)
    if (!('fence' in taken)) {
      recovered()
      return Math.min(taken.freeInMs + 50, standbyMs)
    }
    fence = taken.fence
    const lease = holdLease(taken, askedAt)
    try {
      const sound = await soundStream(manager, lease)
      if (!sound || waker.closing.aborted) return 0
      const shared = { store, lease, link, connection, manager, names, schema, log, waker, ...sound }
      term = openTerm({ ...shared, onPublished })
      recovered()
      const end = await term.over
      if (typeof end === 'object') throw end.fault
      return 0
    } catch (error) {
      await store.release(lease).catch(() => {})
      throw error
    } finally {
      term = undefined
      if (waker.closing.aborted) await store.release(lease).catch(() => {})
    }
  }

  const recovered = () => {
    if (failures > 0) log.info('the relay goes on')
    failures = 0
  }

  const onPublished = ({ createdAt }: { createdAt: string }) => {
    counters.published++
    counters.lagMs = Math.max(0, Date.now() - Date.parse(createdAt))
  }

  /** The stream as the log says it must be; undefined when the lease was lost over that. */
  const soundStream = async (manager: JetStreamManager, lease: HeldLease) => {
    const settings = { ...options.streams, log, signal: waker.closing }
    if (!streamsReady) await ensureStreams(link, names, settings)
    streamsReady = true
    const marks = await store.marks()
    let finding = await inspectStream(manager, names.eventsStream, marks)
    if (!finding) {
      await ensureStreams(link, names, settings)
      finding = await inspectStream(manager, names.eventsStream, marks)
    }
    if (!finding) throw new Error(`there is no stream ${names.eventsStream}`)
    const { identity, sequence } = finding
    if (!finding.lost) {
      const progress = createStreamProgress(marks, identity)
      return { progress, start: marks.at(-1)?.floor ?? 0, refilledAt: undefined }
    }
    const start = await refill(lease, finding, (marks.at(-1)?.generation ?? 0) + 1)
    if (start === undefined) return undefined
    return { progress: createStreamProgress(await store.marks(), identity), start, refilledAt: sequence }
  }

  const refill = async (lease: HeldLease, finding: Finding & { floor: number | undefined }, generation: number) => {
    const { lost, floor, maxAgeMs, identity } = finding
    const filled = await store.refill(lease, { floor, maxAgeMs, identity, generation })
    if (!filled) return undefined
    const facts = { stream: names.eventsStream, found: lost, afterPosition: filled.floor, events: filled.events }
    log.warn({ ...facts, generation }, 'the stream has lost events, they are published again')
    return filled.floor
  }

  const run = async () => {
    while (!waker.closing.aborted) {
      try {
        const waitMs = await attempt()
        if (waitMs > 0) await waker.pause(waitMs)
      } catch (error) {
        if (waker.closing.aborted) return
        failures++
        if (failures === 1) log.warn({ err: error }, 'the relay is interrupted, still trying')
        await waker.pause(
          retryDelayMs({ attempt: failures, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        )
      }
    }
  }
  const running = run()

  let hinted: NodeJS.Timeout | undefined
  /** Tells the replica that has the lease. */
  const hint = () => {
    if (hinted || waker.closing.aborted) return
    hinted = setTimeout(async () => {
      hinted = undefined
      if (!link.connected()) return
      const connection = await link.ready().catch(() => undefined)
      if (connection && !connection.isClosed()) connection.publish(names.wakeSubject(schema, 'relay'))
    }, hintSpacingMs)
  }
  const wake = () => (term ? waker.wake() : hint())

  return {
    offer(events) {
      const readable = events.filter(({ createdAt }) => logged.test(createdAt))
      const taken = term?.offer(readable) && readable.length === events.length
      if (!taken) wake()
    },
    wake,
    counters: () => ({ ...counters, waiting: term?.waiting() ?? 0, active: term !== undefined }),
    async close() {
      waker.close()
      clearTimeout(hinted)
      term?.end('closed')
      await running
      await store.close()
    },
  }
}

/** The connection, once it is up: asking one that is not would only wait for the time to run out. */
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
