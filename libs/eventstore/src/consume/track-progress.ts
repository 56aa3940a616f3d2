import type { NatsNames, PlatformEvent } from '@opsplane/contracts'
import { batchHandling, type ConsumerProgress, type DurableConsumer, type Received } from '@opsplane/nats'
import { isDatabaseUnavailable, isDependencyUnavailable, isTransient } from '@opsplane/postgres'
import { idleIntervalMs, type Logger, type Timer, type Timers } from '@opsplane/runtime'
import { type BackfillResult, backfillFromLogs, type HistoryOptions, isCovered } from './backfill.js'
import type { Checkpoint, ConsumerTables, StreamPosition } from './consumer-tables.js'
import { createLowWatermarks } from './low-watermarks.js'

interface TrackProgressOptions {
  names: NatsNames
  durable: string
  filterSubjects?: readonly string[]
  history: HistoryOptions
  lowWatermarksMs?: number
  tables: ConsumerTables
  log: Logger
  timers: Timers
  /** Applies events of a log. */
  apply(events: Received<PlatformEvent>[]): Promise<void>
}

type ProgressSource = Pick<DurableConsumer, 'place' | 'progress' | 'restart'>

/** Time by which handled events are acknowledged. */
const acknowledgedMs = 1_000
/**
 * Interval at which the consumer's progress is written and the stream inspected while events wait or are in
 * flight. Progress that a killed process has not written is read again.
 */
const writeEveryMs = 5_000

/**
 * Tracks the position up to which a consumer has handled everything, and backfills what the stream has lost before
 * that. The checkpoint only displays progress; no decision is based on it.
 */
export function trackConsumerProgress(options: TrackProgressOptions) {
  const { durable, tables, log, timers } = options
  const writesEveryMs = idleIntervalMs(writeEveryMs, timers)
  const { lowWatermarksMs = writesEveryMs } = options
  const closing = new AbortController()
  const lowWatermarks = createLowWatermarks()
  let before: ConsumerProgress | undefined
  let filled: BackfillResult | undefined
  let unwritten: Checkpoint | undefined
  let noting: Timer | undefined
  let writing: Timer | undefined
  let inspections: Promise<void> = Promise.resolve()
  /** Number of log events that were neither handled nor recorded as dead letters. */
  let returnedCount = 0

  /** In a backfill a failed event becomes a dead letter immediately, because nothing redelivers it. */
  const handling = batchHandling<PlatformEvent>({
    durable,
    log,
    timers,
    apply: options.apply,
    isAway: isDependencyUnavailable,
    isTransient,
    onDead: (message, error) => tables.deadLetter(message, error),
    maxDeliveries: 1,
    maxAckPending: Number.POSITIVE_INFINITY,
    closing: closing.signal,
    onSettled: (_, how) => {
      if (how === 'back') returnedCount++
    },
  })

  const prepare = async (place: () => Promise<ConsumerProgress>) => {
    filled = undefined
    lowWatermarks.forget()
    lowWatermarks.restore(await tables.lowWatermarks())
    filled = await backfillFromLogs(
      {
        ...options,
        closing: closing.signal,
        async apply(events, progress) {
          returnedCount = 0
          if (events.length > 0) await handling.handle(events, () => {})
          if (returnedCount > 0)
            throw new Error(`${returnedCount} events of ${progress.source} are to be read again`)
          await tables.progress(progress)
        },
      },
      place,
    )
    before = filled
  }

  const note = async (consumer: ProgressSource) =>
    lowWatermarks.acknowledged((await consumer.place()).ackFloor)

  let isRefused = false
  let writtenAt = Number.NEGATIVE_INFINITY
  const write = async (consumer: ProgressSource) => {
    writtenAt = timers.now()
    const place = await consumer.progress()
    if (!filled || !before) return
    const { streamCreated, ackFloor } = place
    if (streamCreated !== before.streamCreated) return consumer.restart('the stream is another one')
    // Messages that waited for delivery or redelivery are gone from the stream and were not read from the logs. They
    // may have both arrived and disappeared since the last inspection.
    const hasNewMessages = place.lastSequence > before.lastSequence
    const waited = hasNewMessages || before.pending + before.ackPending > 0
    if (waited && place.firstSequence > before.ackFloor + 1 && !isCovered(filled, place))
      return consumer.restart('the stream has lost messages before they were handled')
    before = place
    if (place.pending > 0 || place.ackPending > 0) scheduleInspection(consumer)
    lowWatermarks.acknowledged(ackFloor)
    await arrive({ streamCreated, ackFloor })
  }

  const advance = ({ handled, ...last }: Checkpoint) => {
    unwritten = { ...last, handled: handled + (unwritten?.handled ?? 0) }
  }
  const arrive = async (place: StreamPosition) => {
    const checkpoint = unwritten
    unwritten = undefined
    try {
      await tables.arrive(place, lowWatermarks.current(), checkpoint)
      isRefused = false
    } catch (error) {
      if (checkpoint) advance({ ...(unwritten ?? checkpoint), handled: checkpoint.handled })
      if (!isRefused && !isDatabaseUnavailable(error))
        log.warn({ err: error, durable }, 'it cannot be written how far the consumer has come, still trying')
      isRefused ||= !isDatabaseUnavailable(error)
      throw error
    }
  }

  /** Runs inspections one after the other; repeats one while the server or Postgres is unavailable. */
  const enqueueInspection = (how: (consumer: ProgressSource) => Promise<void>, consumer: ProgressSource) => {
    inspections = inspections.then(() => how(consumer)).catch(() => scheduleInspection(consumer))
  }

  const scheduleInspection = (consumer: ProgressSource) => {
    if (closing.signal.aborted) return
    const writeDelayMs = Math.max(
      idleIntervalMs(acknowledgedMs, timers),
      writtenAt + writesEveryMs - timers.now(),
    )
    writing ??= timers.setTimeout(() => {
      writing = undefined
      enqueueInspection(write, consumer)
    }, writeDelayMs)
    if (writeDelayMs <= lowWatermarksMs) return
    noting ??= timers.setTimeout(() => {
      noting = undefined
      enqueueInspection(note, consumer)
    }, lowWatermarksMs)
  }

  return {
    lowWatermarks,
    prepare,
    /** Whether the events the stream had lost have been read from the logs. */
    isFilled: () => filled !== undefined,
    /** Called when a batch starts and when it was handled: it is acknowledged a moment later. */
    lookSoon: scheduleInspection,
    /**
     * Records handled events whose effects commit on their own. Counts that a killed process has not
     * written are lost.
     */
    advance,
    /** `drained`: resolves when no batch is in flight any more. */
    async close(drained: Promise<void>) {
      closing.abort()
      timers.clearTimeout(writing)
      timers.clearTimeout(noting)
      await drained
      await inspections
      if (!unwritten || !filled || !before) return
      await arrive(before).catch((err) => log.debug({ err, durable }, 'a checkpoint could not be written'))
    },
  }
}
