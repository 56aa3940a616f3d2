import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsNames } from '@opsplane/contracts'
import { type Logger, systemTimers, type Timers } from '@opsplane/runtime'
import { inspectStream, type StreamMemory } from './inspect-stream.js'
import type { RefillPace } from './refill-pace.js'
import type { TrackedLease } from './relay-lease.js'
import type { RelayStore } from './relay-store.js'
import type { StreamMark } from './stream-marks.js'
import { createStreamProgress, type StreamProgress } from './stream-progress.js'

interface VerifiedStream {
  progress: StreamProgress
  /** Everything up to this position is in the stream. */
  start: number
  /** The stream's first sequence. */
  first: number
  /** Whether the outbox was refilled for it. */
  refilled: boolean
}

interface VerifyStreamOptions {
  store: Pick<RelayStore, 'marks' | 'record' | 'refill'>
  lease: TrackedLease
  manager: JetStreamManager
  names: NatsNames
  log: Logger
  ensureStreams(): Promise<void>
  /** The marks this process has made itself, with the time of its last inspection. */
  witness: StreamMemory | undefined
  pace: RefillPace
  timers?: Pick<Timers, 'now'>
}

/** This many consecutive failed refills are no coincidence. */
const alarmingFailures = 3

/**
 * Inspects the stream before anything is published. Creates it if it does not exist, and refills the outbox with
 * the events it has lost. If a recent refill failed, it returns `waitMs` instead, after which it must be called
 * again. `undefined` if the lease was lost in the meantime.
 */
export async function verifyStream(
  options: VerifyStreamOptions,
): Promise<VerifiedStream | { waitMs: number } | undefined> {
  const { store, lease, manager, names, witness, pace, timers = systemTimers } = options
  const stream = names.eventsStream
  const stored = await store.marks()
  const numbers = new Set(stored.map(({ number }) => number))
  const current = stored.at(-1)?.generation
  // Of a stream that another replica has refilled since, this process has seen nothing.
  const isUnstored = (mark: StreamMark) => mark.generation === current && !numbers.has(mark.number)
  const recorded = stored.at(-1)?.floor ?? 0
  const seen = witness?.marks.filter(isUnstored) ?? []
  // Limited to the recorded floor: events above it may still be in the outbox, and nothing is looked for below a
  // floor.
  const unstored = seen.map((mark) => ({ ...mark, floor: Math.min(mark.floor, recorded) }))
  const marks = [...stored, ...unstored].toSorted((one, other) => one.number - other.number)
  let found = await inspectStream(manager, stream, marks, witness?.since, timers)
  if (!found) {
    await options.ensureStreams()
    found = await inspectStream(manager, stream, marks, witness?.since, timers)
  }
  if (!found) throw new Error(`there is no stream ${stream}`)
  const { identity, maxAgeMs, first, last } = found
  const newest = marks.at(-1)
  if (!newest) {
    const mark = { number: 1, identity, generation: 0, sequence: last, messageId: null, floor: 0 }
    const begun = { ...mark, at: timers.now() }
    if (!(await store.record(lease, { done: [], mark: begun, superfluous: [] }))) return undefined
    return { progress: createStreamProgress([begun], identity, 0, timers), start: 0, first, refilled: false }
  }
  if (!found.lost) {
    pace.sound(timers.now())
    const start = newest.floor
    return { progress: createStreamProgress(marks, identity, start, timers), start, first, refilled: false }
  }
  const waitMs = pace.lost(identity, timers.now())
  if (waitMs > 0) return { waitMs }
  const refill = { standing: found.standing, maxAgeMs, identity, last, generation: newest.generation + 1 }
  const filled = await store.refill(lease, refill)
  if (!filled) return undefined
  pace.refilled(identity, timers.now())
  if (pace.failed >= alarmingFailures)
    options.log.error(
      { stream, failedRefills: pace.failed },
      'the stream does not keep what is published to it; restart the NATS server or delete the stream: runbook stream-refills-fail',
    )
  options.log.warn(
    { stream, found: found.lost, afterPosition: filled.floor, ...filled, generation: refill.generation },
    'the stream has lost events; they are published again from Postgres',
  )
  const start = filled.floor
  const progress = createStreamProgress(await store.marks(), identity, start, timers)
  return { progress, start, first, refilled: true }
}
