import { idTime } from '@opsplane/contracts'
import { recentKeys } from '@opsplane/runtime'
import type { Batch } from '../events/batch.js'
import type { DeliveryJob, StartedAttempt } from '../job.js'
import type { DeliveryDraft } from '../match/delivery-drafts.js'
import type { DeliveryWatch } from '../measure/watch.js'
import type { DeliveryQueues } from './delivery-queues.js'
import type { Written } from './fan-out-writer.js'

export interface FirstAttemptOptions {
  /** Monotonic milliseconds. */
  now(): number
  nowMs(): number
  /** Schedules `callback` in `ms` milliseconds; returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void
  leaseMs: number
  queues: Pick<DeliveryQueues<DeliveryJob>, 'reserve' | 'release' | 'submit'>
  watch: Pick<DeliveryWatch, 'left'>
}

/** Milliseconds for which the cached webhooks of a tenant are trusted without a query. */
const trustedMs = 1_000
/** Older events may have been fanned out before by any replica, so their rows are written first. */
const newMs = 5_000
const rememberedEvents = 10_000
const unwrittenMs = 300_000

/**
 * Starts first attempts before anything is written, if that is safe: the webhook is known to be active, has neither
 * ordering nor a rate limit, and the event is new. The message is acknowledged only after the rows are committed. After
 * a crash in between it is redelivered, and then the rows are written first.
 */
export function createFirstAttempts(options: FirstAttemptOptions) {
  const { now, nowMs, after, leaseMs, queues } = options
  /** By delivery: attempts that run although their rows could not be written yet. */
  const unwritten = new Map<string, StartedAttempt>()
  const seen = recentKeys(rememberedEvents)
  const reserved = new Set<DeliveryDraft>()
  let cancelTimer: (() => void) | undefined

  const isPlain = ({ incoming: { event, redelivered }, job: { target } }: DeliveryDraft, batch: Batch) =>
    !redelivered &&
    target.rateLimitPerSecond === null &&
    !seen.has(event.id) &&
    Math.abs(nowMs() - idTime(event.id)) < newMs &&
    now() - batch.webhooksOf(event).checkedAt < trustedMs

  /**
   * An event may never return to this replica, because another replica has it or it was given up. Its started attempt
   * keeps its place in the queues until it is settled.
   */
  function forgetOld() {
    cancelTimer = undefined
    for (const [id, started] of unwritten) {
      const leftMs = started.startedAt + unwrittenMs - now()
      if (leftMs > 0) {
        cancelTimer = after(leftMs, forgetOld)
        return
      }
      forget(id, started)
    }
  }

  function forget(id: string, started: StartedAttempt) {
    unwritten.delete(id)
    started.settle(false)
  }

  function begin(draft: DeliveryDraft) {
    const started = draft.started ?? createStarted(now())
    draft.started = started
    draft.job.first = started
    unwritten.set(draft.row.id, started)
    cancelTimer ??= after(unwrittenMs, forgetOld)
    queues.submit(draft.job)
  }

  return {
    /** Starts all attempts that are safe to start, and reserves places for those that wait for their rows. */
    start(drafts: DeliveryDraft[], batch: Batch) {
      const begun: DeliveryDraft[] = []
      for (const draft of drafts) {
        const { row, job } = draft
        draft.started ??= unwritten.get(row.id)
        if (draft.started) row.lease_ms = leaseMs + job.target.timeoutMs
        if (draft.started) continue
        if (row.waits || job.target.status !== 'active') {
          job.heldUpSince = now()
          continue
        }
        if (!queues.reserve(job, job.target.rateLimitPerSecond)) continue
        row.lease_ms = leaseMs + job.target.timeoutMs
        if (isPlain(draft, batch)) begun.push(draft)
        else reserved.add(draft)
      }
      for (const draft of begun) begin(draft)
      for (const { event } of batch.incoming) seen.add(event.id)
    },

    /** Called when the rows are committed. */
    committed(drafts: DeliveryDraft[], { made, recorded }: Written) {
      for (const draft of drafts) {
        const { row, job, started } = draft
        const isNew = made.has(row.id)
        if (started) {
          unwritten.delete(row.id)
          started.made ??= isNew
          started.settle(isNew && !recorded.has(row.id))
        } else if (reserved.delete(draft)) {
          // A redelivered event has its deliveries already.
          if (isNew) queues.submit(job)
          else queues.release(job)
        } else if (isNew) options.watch.left(job)
      }
    },

    /** Called when nothing was written: releases reserved places; started attempts continue. */
    releaseReserved(drafts: DeliveryDraft[]) {
      for (const draft of drafts) {
        if (!reserved.delete(draft)) continue
        draft.row.lease_ms = null
        queues.release(draft.job)
      }
    },

    /** Stops waiting for rows, since their writer may have ended. */
    close() {
      cancelTimer?.()
      for (const [id, started] of unwritten) forget(id, started)
    },
  }
}

function createStarted(startedAt: number): StartedAttempt {
  let end = () => {}
  let settle: (apart: boolean) => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const settled = new Promise<boolean>((resolve) => {
    settle = resolve
  })
  return { startedAt, ended, end, columns: undefined, made: undefined, settled, settle }
}
