import { msToIdleTick, systemTimers, type Timers } from '@opsplane/runtime'
import type { Waker } from '../waker.js'
import type { TrackedLease } from './relay-lease.js'
import type { RelayQueue } from './relay-queue.js'
import type { RelayStore } from './relay-store.js'

interface OutboxReaderOptions {
  store: Pick<RelayStore, 'poll' | 'edge'>
  lease: TrackedLease
  queue: Pick<RelayQueue, 'positions' | 'learn'>
  waker: Pick<Waker, 'wait' | 'pause'>
  ended(): boolean
  onRenewed(): void
  /** Maximum number of positions in memory, 2,000,000 if absent; beyond that nothing is read ahead. */
  maxWaiting?: number
  timers?: Pick<Timers, 'now' | 'timeOrigin'>
}

/**
 * Polling interval when idle. The lease lasts half as long: a replica with events to publish then acquires it, or
 * a poll renews it.
 */
const pollMs = 10_000
/** How often, under traffic, the position is determined below which no event can appear any more. */
const settleMs = 250
const pollLimit = 50_000
/** A poll renews a lease that lasts less than this. */
const renewBelowMs = 2_500
const longestPauseMs = 50

/**
 * Reads the outbox into the queue until the end, or until the lease was lost, which returns `false`: when woken,
 * and every ten seconds. Each poll starts where everything before is known, so its cost does not depend on how
 * much was published.
 */
export async function readOutbox(options: OutboxReaderOptions): Promise<boolean> {
  const { store, lease, queue, waker, maxWaiting = 2_000_000, timers = systemTimers } = options
  const { positions } = queue
  const edge = createEdge(store)
  let settledAt = Number.NEGATIVE_INFINITY
  let seesAll = false

  /** `false` if the lease was lost; `seesAll` states whether there is more to read. */
  const poll = async (): Promise<boolean> => {
    const requestedAt = timers.now()
    const upTo = edge.settled()
    const renews = lease.lastsMs() < renewBelowMs
    const { isLeaseHeld: held, workspaces } = await store.poll(
      positions.settled,
      pollLimit,
      renews ? lease : undefined,
    )
    if (held === false) return false
    if (held) {
      lease.recordRenewal(requestedAt)
      options.onRenewed()
    }
    let [count, last] = [0, 0]
    for (const { workspaceId, positions: found } of workspaces) {
      count += found.length
      last = Math.max(last, found.at(-1) ?? 0)
      queue.learn(workspaceId, found)
    }
    seesAll = count < pollLimit
    positions.settle(seesAll ? upTo : Math.min(upTo, last))
    return true
  }

  while (!options.ended()) {
    const startedAt = timers.now()
    const mayRead = positions.outstanding < maxWaiting
    if (mayRead && !(await poll())) return false
    const isDue = startedAt - settledAt >= settleMs
    if (isDue && (positions.unsettled || !seesAll)) {
      await edge.advance()
      settledAt = startedAt
    }
    const reads = mayRead && positions.settled < edge.settled()
    if (!seesAll && reads) continue
    // The next leadership may have started: this wait must not take a wake-up meant for it.
    if (options.ended()) return true
    const endedAt = timers.now()
    const isBusy = positions.unsettled || !seesAll || positions.outstanding > 0
    await waker.wait(isBusy ? settleMs : msToIdleTick(pollMs, undefined, timers))
    // Under load, polls are fewer and larger.
    const restsUntil = endedAt + Math.min(endedAt - startedAt, longestPauseMs)
    if (timers.now() < restsUntil) await waker.pause(restsUntil - timers.now())
  }
  return true
}

/**
 * Determines the position below which no commit can appear any more. A transaction that draws a position locks the
 * outbox before that until its commit: once all transactions that held the lock when the log ended at a position
 * have ended, nothing is missing below it. The position counts only once its WAL is on disk: a Postgres that
 * crashes before that draws those positions again, for other events.
 */
function createEdge(store: Pick<RelayStore, 'edge'>) {
  let settled = 0
  let next: { position: number; logged: number; writers: ReadonlySet<string>; history: string } | undefined
  return {
    settled: () => settled,
    async advance(): Promise<void> {
      const { last, writers, logged, flushed, history } = await store.edge()
      // Postgres crashed before the WAL was on disk: other transactions, not among the recorded writers, draw those
      // positions again.
      if (next && (last < next.position || next.history !== history)) next = undefined
      next = next
        ? { ...next, writers: new Set(writers.filter((writer) => next?.writers.has(writer))) }
        : { position: last, logged, writers: new Set(writers), history }
      if (next.writers.size > 0 || flushed < next.logged) return
      settled = next.position
      next = undefined
    },
  }
}
