import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import type { TrackedLease } from './relay-lease.js'
import type { RelayStore } from './relay-store.js'
import type { StreamProgress } from './stream-progress.js'

interface OutboxRecorder {
  /** The position will be deleted from the outbox soon. */
  add(position: number): void
  /** Drains: records the rest after the running statement; nothing can be added any more. Never rejects. */
  close(): Promise<void>
}

interface OutboxRecorderOptions {
  store: Pick<RelayStore, 'record'>
  lease: TrackedLease
  progress: StreamProgress
  /** Every position up to here is done. */
  floor(): number
  onRenewed(): void
  /** The lease was lost, or the database cannot be reached. */
  onEnd(fault?: unknown): void
  timers?: Timers
}

const intervalMs = 100
const atOnce = 500

/** Deletes published events from the outbox in batches, and renews the lease with the same statement. */
export function createOutboxRecorder(options: OutboxRecorderOptions): OutboxRecorder {
  const { store, lease, progress, timers = systemTimers } = options
  let done: number[] = []
  let timer: Timer | undefined
  let recording: Promise<void> | undefined
  /** When closed, only close() records the rest. */
  let closed = false

  const record = async () => {
    timers.clearTimeout(timer)
    timer = undefined
    const requestedAt = timers.now()
    // Batch and floor are taken at the same moment: everything the floor covers is deleted with it, or was before.
    const batch = done
    done = []
    const marking = progress.mark(options.floor())
    try {
      if (await store.record(lease, { done: batch, ...marking })) {
        lease.recordRenewal(requestedAt)
        options.onRenewed()
      } else options.onEnd()
    } catch (error) {
      // Kept for the next batch: a floor recorded later covers these positions too, and nothing searches for them below
      // it.
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
