import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsNames } from '@opsplane/contracts'
import { type NatsLink, NoStreamError, openAckInbox, type PublishAck } from '@opsplane/nats'
import { type Logger, onIdleTicks, type Timers } from '@opsplane/runtime'
import { endSpanWith, type Tracing } from '@opsplane/telemetry'
import type { LoggedEvent } from '../logged-events.js'
import type { Waker } from '../waker.js'
import { inspectStream, type StreamMemory } from './inspect-stream.js'
import { readOutbox } from './outbox-reader.js'
import { createOutboxRecorder } from './outbox-recorder.js'
import { publishEvent } from './publish-event.js'
import type { TrackedLease } from './relay-lease.js'
import { createRelayQueue } from './relay-queue.js'
import type { LastPublished } from './relay-queues.js'
import type { RelayStore } from './relay-store.js'
import type { StreamProgress } from './stream-progress.js'

interface LeadershipOptions {
  store: RelayStore
  lease: TrackedLease
  link: NatsLink
  connection: NatsConnection
  manager: JetStreamManager
  names: NatsNames
  schema: string
  log: Logger
  waker: Waker
  timers: Timers
  /** Up to this position everything is published. */
  start: number
  progress: StreamProgress
  /** Where the stream begins. */
  first: number
  tracing: Tracing
  onPublished(event: LoggedEvent): void
  /** An inspection has found what was published in the stream. */
  onSound(): void
}

/** Why a term ended. */
export type LeadershipEnd =
  | 'closed'
  /** The lease is another's. */
  | 'superseded'
  /** The stream has changed, and is to be inspected again. */
  | 'changed'
  /** NATS or Postgres is away. */
  | { fault: unknown }

/** One holding of the lease, from a look at the stream that found it sound until something is not as it was. */
export interface Leadership {
  /** False when a look must find some of these first. */
  offer(events: readonly LoggedEvent[]): boolean
  /** Events that are known and not yet published. */
  waiting(): number
  end(reason: LeadershipEnd): void
  /** What it knows of the stream, and when it last found that sound. */
  witness(): StreamMemory
  /** Resolves once nothing is in flight and what is published is recorded. Never rejects. */
  over: Promise<LeadershipEnd>
}

const ackTimeoutMs = 5_000
/** How old the last look at the stream may be while something is published, and while nothing is. */
const inspectMs = 5_000
const restingInspectMs = 30_000
/** How often it is said that events are refused. */
const refusedMs = 60_000

export function startLeadership(options: LeadershipOptions): Leadership {
  const { store, lease, link, connection, manager, names, schema, progress, tracing, waker, timers } = options
  const inbox = openAckInbox(connection, ackTimeoutMs, timers)
  let reason: LeadershipEnd | undefined
  let whenEnded: (reason: LeadershipEnd) => void = () => {}
  const ended = new Promise<LeadershipEnd>((resolve) => {
    whenEnded = resolve
  })
  const end = (why: LeadershipEnd) => {
    reason ??= why
    whenEnded(reason)
    waker.wake()
  }

  let inspectedAt = timers.now()
  let inspecting: Promise<void> | undefined
  let unseen = 0
  const publish = async (event: LoggedEvent, messageId = event.id): Promise<PublishAck | undefined> => {
    const { floor } = queue.positions
    const signatures = link.identity?.signatures
    const traced = tracing.follow('publish', event.trace, { kind: 'producer' })
    const { traceparent } = traced
    const ack = await endSpanWith(traced, () =>
      publishEvent(event, {
        ...{ inbox, names, schema, connection, floor, messageId, signatures, traceparent },
      }),
    )
    if (ack && ack.sequence >= options.first) progress.acknowledged(ack.sequence, messageId)
    unseen++
    // The first one after a rest: what befell the stream meanwhile is found now.
    if (timers.now() - inspectedAt > 2 * inspectMs) void inspect()
    return ack
  }

  const send = async (event: LoggedEvent, last: LastPublished): Promise<PublishAck | undefined> => {
    const before = progress.sequence
    const ack = await publish(event)
    if (!ack) {
      options.log.error(
        { eventId: event.id },
        'an event is larger than the NATS server takes; it is kept as a dead letter (raise max_payload)',
      )
      await store.giveUp(lease, event, 'larger than the max_payload of the NATS server')
      return undefined
    }
    if (!ack.duplicate && ack.sequence <= before) end('changed')
    return isMisplaced(ack, event, last) ? putAgain(event, ack, last) : ack
  }

  /**
   * The stream knows the event already, but has been purged of it, or may be so unnoticed, or has it before one that comes before it: it was
   * published to a stream that had just lost others unnoticed.
   */
  const isMisplaced = (ack: PublishAck, { version }: LoggedEvent, last: LastPublished): boolean => {
    if (!ack.duplicate) return false
    if (ack.sequence < options.first || ack.sequence <= progress.unmarkedUpTo) return true
    if (version === 1) return false
    if (last.sequence !== undefined) return ack.sequence < last.sequence
    // An earlier term may have been cut off while it filled the stream again, and the one before may stand behind this one. Where
    // that is not so the event is there once more, under another id.
    return progress.generation > 0
  }
  const putAgain = async (event: LoggedEvent, { sequence }: PublishAck, last: LastPublished) => {
    // Before the other is gone: who is cut off in between finds at least that one.
    let ack = await publish(event, `${event.id}.${progress.generation}`)
    // An earlier term of this generation has put it there, and those before it have been put behind it since.
    for (let copy = 1; ack?.duplicate && ack.sequence < (last.sequence ?? 0); copy++)
      ack = await publish(event, `${event.id}.${progress.generation}.${copy}`)
    progress.removed(sequence)
    // A stream may forbid it; consumers then have it twice, which they recognize.
    await manager.streams.deleteMessage(names.eventsStream, sequence, false).catch(() => {})
    return ack
  }

  const inspectNow = async () => {
    const startedAt = timers.now()
    unseen = 0
    try {
      const { marks } = progress
      const finding = await inspectStream(manager, names.eventsStream, marks, inspectedAt, timers)
      if (!finding || finding.lost) end('changed')
      else {
        inspectedAt = startedAt
        options.onSound()
      }
    } catch (fault) {
      end({ fault })
    } finally {
      inspecting = undefined
    }
  }
  const inspect = () => (inspecting ??= inspectNow())
  let refusedAt = Number.NEGATIVE_INFINITY
  /** The stream is complete, and yet refuses the event: it is retried until an operator solves the problem. */
  const refused = (err: unknown) => {
    if (reason !== undefined || timers.now() - refusedAt < refusedMs) return
    refusedAt = timers.now()
    options.log.warn({ err }, 'an event is refused, still trying; those behind it of its aggregate wait')
  }
  const look = () => {
    if (unseen > 0 || timers.now() - inspectedAt >= restingInspectMs - inspectMs / 2) void inspect()
  }

  const recorder = createOutboxRecorder({
    store,
    lease,
    progress,
    timers,
    floor: () => queue.positions.floor,
    onRenewed: () => queue.pump(),
    onEnd: (fault) => end(fault === undefined ? 'superseded' : { fault }),
  })
  const queue = createRelayQueue({
    start: options.start,
    mayPublish: () => reason === undefined && link.connected() && lease.lastsMs() > 0,
    load: (positions) => store.events(positions).catch((fault: unknown) => void end({ fault })),
    send,
    timers,
    onDone(position, event, ack) {
      if (event && ack) options.onPublished(event)
      recorder.add(position)
    },
    onFailure(error) {
      if (reason !== undefined) return
      if (error instanceof NoStreamError) end('changed')
      else void inspect().then(() => refused(error))
    },
  })

  const serve = async (): Promise<LeadershipEnd> => {
    const hints = connection.subscribe(names.wakeSubject(schema, 'relay'), { callback: waker.wake })
    const stopLooking = onIdleTicks(inspectMs, look, timers)
    const disconnected = () => end({ fault: new Error('NATS is disconnected') })
    const stopWatching = link.onChange(disconnected)
    if (!link.connected()) disconnected()
    readOutbox({
      store,
      lease,
      queue,
      waker,
      timers,
      ended: () => reason !== undefined,
      onRenewed: () => queue.pump(),
    }).then(
      (held) => held || end('superseded'),
      (fault: unknown) => end({ fault }),
    )
    const why = await ended
    stopLooking()
    stopWatching()
    if (!connection.isClosed()) hints.unsubscribe()
    // No acknowledgement arrives any more: what is in flight is published again, which the stream recognizes.
    if (typeof why === 'object') inbox.close()
    await queue.close()
    inbox.close()
    await recorder.close()
    return why
  }

  return {
    offer(events) {
      let taken = true
      for (const event of events) taken = queue.offer(event) && taken
      return taken && lease.lastsMs() > 0
    },
    waiting: () => queue.positions.outstanding,
    end,
    witness: () => ({ marks: progress.marks, since: inspectedAt }),
    over: serve(),
  }
}
