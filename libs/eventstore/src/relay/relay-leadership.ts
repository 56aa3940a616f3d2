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
  /** Everything up to this position is published. */
  start: number
  progress: StreamProgress
  /** First sequence of the stream. */
  first: number
  tracing: Tracing
  onPublished(event: LoggedEvent): void
  /** An inspection has found all published events in the stream. */
  onSound(): void
}

/** Why a term ended. */
export type LeadershipEnd =
  | 'closed'
  /** Another replica has the lease. */
  | 'superseded'
  /** The stream has changed and must be inspected again. */
  | 'changed'
  /** NATS or Postgres is unavailable. */
  | { fault: unknown }

/**
 * One term of the relay, from an inspection that found the stream complete until the stream changes, the lease is
 * lost, or a dependency fails.
 */
export interface Leadership {
  /** `false` if the outbox reader must find some of these first. */
  offer(events: readonly LoggedEvent[]): boolean
  /** Number of events that are known and not yet published. */
  waiting(): number
  end(reason: LeadershipEnd): void
  /** The marks of the stream, and when it was last found complete. */
  witness(): StreamMemory
  /** Resolves once nothing is in flight and everything published is recorded. Never rejects. */
  over: Promise<LeadershipEnd>
}

const ackTimeoutMs = 5_000
/** Maximum age of the last inspection of the stream, while publishing and while idle. */
const inspectMs = 5_000
const restingInspectMs = 30_000
/** Minimum interval between warnings about refused events. */
const refusedMs = 60_000

export function startLeadership(options: LeadershipOptions): Leadership {
  const { store, lease, link, connection, manager, names, schema, progress, tracing, waker, timers } = options
  const inbox = openAckInbox(connection, ackTimeoutMs, timers)
  let reason: LeadershipEnd | undefined
  let whenEnded: (reason: LeadershipEnd) => void = () => {}
  const endReason = new Promise<LeadershipEnd>((resolve) => {
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
    // First event after an idle period: this inspection finds what happened to the stream in the meantime.
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
    return isMisplaced(ack, event, last) ? republish(event, ack, last) : ack
  }

  /**
   * The stream recognizes the event as a duplicate, but the event is out of place: it was purged, or may have been
   * purged unnoticed, or is in the stream before its predecessor, because it was published to a stream that had just
   * lost others unnoticed.
   */
  const isMisplaced = (ack: PublishAck, { version }: LoggedEvent, last: LastPublished): boolean => {
    if (!ack.duplicate) return false
    if (ack.sequence < options.first || ack.sequence <= progress.unmarkedUpTo) return true
    if (version === 1) return false
    if (last.sequence !== undefined) return ack.sequence < last.sequence
    // An earlier term may have been cut off while it refilled the stream, so that the previous event may now be behind
    // this one. If that is not the case, the event is in the stream twice, under different ids.
    return progress.generation > 0
  }
  const republish = async (event: LoggedEvent, { sequence }: PublishAck, last: LastPublished) => {
    // Published before the other copy is deleted: if the relay is cut off in between, at least one copy exists.
    let ack = await publish(event, `${event.id}.${progress.generation}`)
    // An earlier term of this generation published it, and its predecessors have been published behind it since.
    for (let copy = 1; ack?.duplicate && ack.sequence < (last.sequence ?? 0); copy++)
      ack = await publish(event, `${event.id}.${progress.generation}.${copy}`)
    progress.removed(sequence)
    // A stream may forbid deletion; consumers then receive the event twice and recognize it.
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
  /** The stream is complete but refuses the event: it is retried until an operator solves the problem. */
  const warnOfRefusal = (err: unknown) => {
    if (reason !== undefined || timers.now() - refusedAt < refusedMs) return
    refusedAt = timers.now()
    options.log.warn({ err }, 'an event is refused, still trying; those behind it of its aggregate wait')
  }
  const inspectIfDue = () => {
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
      else void inspect().then(() => warnOfRefusal(error))
    },
  })

  const serve = async (): Promise<LeadershipEnd> => {
    const hints = connection.subscribe(names.wakeSubject(schema, 'relay'), { callback: waker.wake })
    const stopInspections = onIdleTicks(inspectMs, inspectIfDue, timers)
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
      (isLeaseHeld) => isLeaseHeld || end('superseded'),
      (fault: unknown) => end({ fault }),
    )
    const why = await endReason
    stopInspections()
    stopWatching()
    if (!connection.isClosed()) hints.unsubscribe()
    // No further acknowledgements arrive: events in flight are published again, and the stream recognizes duplicates.
    if (typeof why === 'object') inbox.close()
    await queue.close()
    inbox.close()
    await recorder.close()
    return why
  }

  return {
    offer(events) {
      let areAllAccepted = true
      for (const event of events) areAllAccepted = queue.offer(event) && areAllAccepted
      return areAllAccepted && lease.lastsMs() > 0
    },
    waiting: () => queue.positions.outstanding,
    end,
    witness: () => ({ marks: progress.marks, since: inspectedAt }),
    over: serve(),
  }
}
