import { idTime } from '@opsplane/contracts'
import { recentKeys } from '@opsplane/runtime'
import type { DeliveryJob, Started } from '../job.js'
import type { Batch, DeliveryDraft } from './fan-out-batch.js'
import type { Written } from './fan-out-writer.js'

export interface FirstAttemptOptions {
  /** Monotonic milliseconds. */
  now(): number
  nowMs(): number
  /** Calls back after so many milliseconds; returns how to call that off. */
  after(ms: number, callback: () => void): () => void
  leaseMs: number
  reserve(job: DeliveryJob, perSecond: number | null): boolean
  release(job: DeliveryJob): void
  /** Takes a delivery that is leased to this replica, or will be, in a place reserved before. */
  submit(job: DeliveryJob): void
  /** The row is committed of a delivery that found no place: it waits in Postgres. */
  onLeft(job: DeliveryJob): void
}

/** What is known of a tenant's webhooks is believed for so long without asking. */
const believedMs = 1_000
/** Older events may have been fanned out before, by whichever replica: their rows come first. */
const newMs = 5_000
const leastRemembered = 10_000
const forgottenMs = 300_000

/**
 * Starts first attempts before anything is written, where nothing can be wrong with that: the webhook is known to be
 * active, is neither ordered nor paced, and the event has not been seen. The message is acknowledged only once the rows
 * are committed, so a crash in between has it come again, redelivered, and then the rows come first.
 */
export function createFirstAttempts(options: FirstAttemptOptions) {
  const { now, nowMs, after, leaseMs, reserve, release, submit } = options
  /** By delivery: what goes on while its rows could not be written yet. */
  const underWay = new Map<string, Started>()
  const seen = recentKeys(leastRemembered)
  const reserved = new Set<DeliveryDraft>()
  let callOff: (() => void) | undefined

  const isPlain = ({ incoming: { event, redelivered }, job: { target } }: DeliveryDraft, batch: Batch) =>
    !redelivered &&
    target.rateLimitPerSecond === null &&
    !seen.has(event.id) &&
    Math.abs(nowMs() - idTime(event.id)) < newMs &&
    now() - batch.webhooksOf(event).checkedAt < believedMs

  /**
   * An event may never come here again, as another replica has it or it was given up. What was started for it keeps its
   * place in the queues until it is settled.
   */
  function forgetOld() {
    callOff = undefined
    for (const [id, started] of underWay) {
      const leftMs = started.startedAt + forgottenMs - now()
      if (leftMs > 0) {
        callOff = after(leftMs, forgetOld)
        return
      }
      forget(id, started)
    }
  }

  function forget(id: string, started: Started) {
    underWay.delete(id)
    started.settle(false)
  }

  function begin(draft: DeliveryDraft) {
    const started = draft.started ?? createStarted(now())
    draft.started = started
    draft.job.first = started
    underWay.set(draft.row.id, started)
    callOff ??= after(forgottenMs, forgetOld)
    submit(draft.job)
  }

  return {
    /** Starts what can be started, and reserves places for what has to wait for its row. */
    start(drafts: DeliveryDraft[], batch: Batch) {
      const begun: DeliveryDraft[] = []
      for (const draft of drafts) {
        const { row, job } = draft
        draft.started ??= underWay.get(row.id)
        if (draft.started) row.lease_ms = leaseMs + job.target.timeoutMs
        if (draft.started) continue
        if (row.waits || job.target.status !== 'active') {
          job.heldUpSince = now()
          continue
        }
        if (!reserve(job, job.target.rateLimitPerSecond)) continue
        row.lease_ms = leaseMs + job.target.timeoutMs
        if (isPlain(draft, batch)) begun.push(draft)
        else reserved.add(draft)
      }
      for (const draft of begun) begin(draft)
      for (const { event } of batch.incoming) seen.add(event.id)
    },

    /** The rows are committed. */
    committed(drafts: DeliveryDraft[], { made, recorded }: Written) {
      for (const draft of drafts) {
        const { row, job, started } = draft
        const isNew = made.has(row.id)
        if (started) {
          underWay.delete(row.id)
          started.made ??= isNew
          started.settle(isNew && !recorded.has(row.id))
        } else if (reserved.delete(draft)) {
          // An event that comes again has its deliveries already.
          if (isNew) submit(job)
          else release(job)
        } else if (isNew) options.onLeft(job)
      }
    },

    /** Nothing was written: places that were only reserved are free again, what was started goes on. */
    letGo(drafts: DeliveryDraft[]) {
      for (const draft of drafts) {
        if (!reserved.delete(draft)) continue
        draft.row.lease_ms = null
        release(draft.job)
      }
    },

    /** Stops waiting for rows: their writer may be gone. */
    close() {
      callOff?.()
      for (const [id, started] of underWay) forget(id, started)
    },
  }
}

function createStarted(startedAt: number): Started {
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
