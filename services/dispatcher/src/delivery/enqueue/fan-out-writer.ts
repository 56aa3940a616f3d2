import { tenantKey } from '@opsplane/contracts'
import { isDependencyUnavailable } from '@opsplane/postgres'
import type { Batch } from '../events/batch.js'
import type { DeliveryDraft } from '../match/delivery-drafts.js'
import type { AttemptColumns } from '../record/record-statement.js'
import type { FanOutBatch } from './fan-out-statement.js'

export interface FanOutWriterOptions {
  /** Monotonic milliseconds. */
  now(): number
  /** Unix milliseconds. */
  nowMs(): number
  after(ms: number, callback: () => void): void
  /** Runs one statement: see `insertBatch`. */
  insert(rows: FanOutBatch): Promise<Set<string> | undefined>
}

/** The committed part of a batch. */
export interface Written {
  /** New deliveries. */
  made: ReadonlySet<string>
  /** Deliveries whose first attempt was recorded as well. */
  recorded: ReadonlySet<string>
}

/** Resolves to `undefined`, with nothing written, if some webhook was changed after the drafts were made. */
export type WriteFanOut = (
  drafts: Pick<DeliveryDraft, 'incoming' | 'row' | 'started'>[],
  batch: Pick<Batch, 'incoming' | 'origins' | 'tenants' | 'jsonOf'>,
) => Promise<Written | undefined>

interface Part {
  drafts: Parameters<WriteFanOut>[0]
  batch: Parameters<WriteFanOut>[1]
}

interface Waiting extends Part {
  /** The batch is written at this time even if its attempts have not ended. */
  readyAt: number
  resolve(written: Written | undefined): void
  reject(error: unknown): void
}

/**
 * Minimum milliseconds between the starts of two statements, unless a caller waits for a
 * row or the maximum of batches waits.
 */
const spacingMs = 40
/** Milliseconds to wait for attempts that are about to end, so that the statement includes their results. */
const attemptWaitMs = 4
const maxGathered = 8
/** Two, so that a statement waiting for a lock does not block all others. */
const maxStatements = 2
const maxEvents = 256

/**
 * Writes the rows of batches. Batches that arrive within a few milliseconds share a statement; after a pause, a batch
 * is written as soon as its attempts have ended. They also share one timer, because each timer that wakes the process
 * costs a tenth of a delivery. If a combined statement fails, each batch is written separately, so that batches fail
 * independently.
 */
export function createFanOutWriter({ now, nowMs, after, insert }: FanOutWriterOptions): WriteFanOut {
  let queue: Waiting[] = []
  let statements = 0
  let nextAt = Number.NEGATIVE_INFINITY
  let plannedAt = Number.POSITIVE_INFINITY

  function plan() {
    if (queue.length === 0 || statements >= maxStatements) return
    const ready = queue.filter(({ readyAt }) => readyAt <= now())
    const isUrgent = ready.length >= maxGathered || ready.some(awaitsRows)
    if (isUrgent || (ready.length > 0 && nextAt <= now())) return begin(ready)
    const gathered = queue.slice(maxGathered - 1, maxGathered)
    planAt(
      Math.min(
        Math.max(firstReady(queue), nextAt),
        firstReady(queue.filter(awaitsRows)),
        firstReady(gathered),
      ),
    )
  }

  function planAt(at: number) {
    if (at >= plannedAt) return
    plannedAt = at
    after(at - now(), () => {
      plannedAt = Number.POSITIVE_INFINITY
      plan()
    })
  }

  function begin(ready: Waiting[]) {
    statements++
    nextAt = now() + spacingMs
    const chosen = firstOf(ready)
    queue = queue.filter((waiting) => !chosen.includes(waiting))
    void writeTogether(chosen).then(() => {
      statements--
      plan()
    })
  }

  async function writeTogether(parts: Waiting[]): Promise<void> {
    const [first, ...others] = parts
    if (!first) return
    try {
      const written = await write(parts)
      if (written || others.length === 0) {
        for (const part of parts) part.resolve(written && shareOf(part, written))
        return
      }
    } catch (error) {
      if (others.length === 0 || isDependencyUnavailable(error)) {
        for (const { reject } of parts) reject(error)
        return
      }
    }
    for (const part of parts) await writeTogether([part])
  }

  /**
   * If Postgres rejects the results of attempts, the rows are written without them, and
   * results are recorded separately.
   */
  async function write(parts: Part[]) {
    const attempts = parts.flatMap(({ drafts }) => drafts.flatMap(({ started }) => started?.columns ?? []))
    try {
      return await insertWith(parts, attempts)
    } catch (error) {
      if (attempts.length === 0 || isDependencyUnavailable(error)) throw error
      return insertWith(parts, [])
    }
  }

  async function insertWith(parts: Part[], attempts: AttemptColumns[]) {
    const made = await insert({ now: new Date(nowMs()).toISOString(), ...rowsOf(parts), attempts })
    return made && { made, recorded: new Set(attempts.map(({ id }) => id)) }
  }

  return (drafts, batch) =>
    new Promise((resolve, reject) => {
      const attemptEnds = drafts.flatMap(({ started }) => started?.ended ?? [])
      const waiting = {
        drafts,
        batch,
        readyAt: now() + (attemptEnds.length > 0 ? attemptWaitMs : 0),
        resolve,
        reject,
      }
      queue.push(waiting)
      plan()
      if (attemptEnds.length === 0) return
      void Promise.all(attemptEnds).then(() => {
        waiting.readyAt = now()
        plan()
      })
    })
}

const firstReady = (waiting: Waiting[]) => Math.min(...waiting.map(({ readyAt }) => readyAt))

/** The batches that fit in one statement. */
function firstOf(ready: Waiting[]): Waiting[] {
  let events = 0
  const over = ready.findIndex(({ batch }, at) => {
    events += batch.incoming.length
    return at > 0 && events > maxEvents
  })
  return over === -1 ? ready : ready.slice(0, over)
}

/** True if some first attempt does not start before its row exists. */
function awaitsRows({ drafts }: Part): boolean {
  return drafts.some(({ started }) => !started)
}

/** An event may be in two batches: its deliveries are new in one of them only. */
function shareOf(
  { drafts }: Part,
  { made, recorded }: { made: Set<string>; recorded: Set<string> },
): Written {
  return { made: new Set(drafts.map(({ row }) => row.id).filter((id) => made.delete(id))), recorded }
}

function rowsOf(parts: Part[]): Pick<FanOutBatch, 'events' | 'deliveries' | 'origins' | 'revisions'> {
  const events = new Map<string, FanOutBatch['events'][number]>()
  const revisions = new Map<string, FanOutBatch['revisions'][number]>()
  for (const { drafts, batch } of parts) {
    for (const {
      incoming: { event },
    } of drafts)
      if (!events.has(event.id))
        events.set(event.id, { id: event.id, tenant: event, json: batch.jsonOf(event) })
    for (const { tenant, revision } of batch.tenants) {
      const { workspaceId, environment } = tenant
      revisions.set(`${tenantKey(tenant)} ${revision}`, { workspaceId, environment, revision })
    }
  }
  return {
    events: [...events.values()],
    deliveries: parts.flatMap(({ drafts }) => drafts.map(({ row }) => row)),
    origins: parts.flatMap(({ batch }) => batch.origins),
    revisions: [...revisions.values()],
  }
}
