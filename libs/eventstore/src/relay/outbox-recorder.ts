import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import type { TrackedLease } from './relay-lease.js'
import type { RelayStore } from './relay-store.js'
import type { StreamProgress } from './stream-progress.js'

interface OutboxRecorder {
  /** To be taken out of the outbox soon. */
  add(position: number): void
  /** Drains: records the rest, after the running statement; nothing is added any more. Never rejects. */
  close(): Promise<void>
}

interface OutboxRecorderOptions {
  store: Pick<RelayStore, 'record'>
  lease: TrackedLease
  progress: StreamProgress
  /** Every position up to here is done. */
  floor(): number
  onRenewed(): void
  /** The lease is another's, or the database cannot be reached. */
  onEnd(fault?: unknown): void
  timers?: Timers
}

const intervalMs = 100
const atOnce = 500

/** Takes what is published out of the outbox behind it, many at once, and renews the lease with the same statement. */
export function createOutboxRecorder(options: OutboxRecorderOptions): OutboxRecorder {
  const { store, lease, progress, timers = systemTimers } = options
  let done: number[] = []
  let timer: Timer | undefined
  let recording: Promise<void> | undefined
  /** What is left is recorded by close() alone. */
  let closed = false

  const record = async () => {
    timers.clearTimeout(timer)
    timer = undefined
    const askedAt = timers.now()
    // Both at one moment: whatever the floor covers is taken out with it, or was before.
    const batch = done
    done = []
    const marking = progress.mark(options.floor())
    try {
      if (await store.record(lease, { done: batch, ...marking })) {
        lease.recordRenewal(askedAt)
        options.onRenewed()
      } else options.onEnd()
    } catch (error) {
      // A floor that is recorded later covers these too: they are not searched for below it.
      done = batch.concat(done)
      closed = true
      options.onEnd(error)
    }
  }
  const schedule = () => {
    if (closed || recording || done.length === 0) return
    if (done.length < atOnce) timer ??= timers.setTimeout(start, intervalMs)
    else start()
  }
  const start = () => {
    recording = record().then(() => {
      recording = undefined
      schedule()
    })
  }

  return {
    add(position) {
      done.push(position)
      schedule()
    },
    async close() {
      closed = true
      await recording
      timers.clearTimeout(timer)
      if (done.length > 0) await record()
    },
  }
}
