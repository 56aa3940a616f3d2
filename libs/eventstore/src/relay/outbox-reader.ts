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
  /** Whether to stop. */
  ended(): boolean
  /** The lease was renewed. */
  onRenewed(): void
  /** Most positions in memory, 2,000,000 unless given; beyond that nothing is read ahead. */
  maxWaiting?: number
  timers?: Pick<Timers, 'now' | 'timeOrigin'>
}

/** At rest. The lease lasts for half of it: who has something to publish then takes it, or is given it by a look. */
const pollMs = 10_000
/** How often, while there is traffic, it is seen up to where nothing more can appear. */
const settleMs = 250
const lookLimit = 50_000
/** A lease that lasts no longer is renewed by a look. */
const renewBelowMs = 2_500
const longestPauseMs = 50

/**
 * Reads the outbox into the queue until the end, or until the lease is another's, which is false: when woken, and every
 * ten seconds. A look begins where everything before is known, so it costs the same however much was published.
 */
export async function readOutbox(options: OutboxReaderOptions): Promise<boolean> {
  const { store, lease, queue, waker, maxWaiting = 2_000_000, timers = systemTimers } = options
  const { positions } = queue
  const edge = createEdge(store)
  let settledAt = Number.NEGATIVE_INFINITY
  let seesAll = false

  /** False when the lease is lost; whether there is more is in `seesAll`. */
  const look = async (): Promise<boolean> => {
    const askedAt = timers.now()
    const upTo = edge.settled()
    const renews = lease.lastsMs() < renewBelowMs
    const { isLeaseHeld: held, workspaces } = await store.poll(
      positions.settled,
      lookLimit,
      renews ? lease : undefined,
    )
    if (held === false) return false
    if (held) {
      lease.recordRenewal(askedAt)
      options.onRenewed()
    }
    let [count, last] = [0, 0]
    for (const { workspaceId, positions: found } of workspaces) {
      count += found.length
      last = Math.max(last, found.at(-1) ?? 0)
      queue.learn(workspaceId, found)
    }
    seesAll = count < lookLimit
    positions.settle(seesAll ? upTo : Math.min(upTo, last))
    return true
  }

  while (!options.ended()) {
    const startedAt = timers.now()
    const mayRead = positions.outstanding < maxWaiting
    if (mayRead && !(await look())) return false
    const isDue = startedAt - settledAt >= settleMs
    if (isDue && (positions.unsettled || !seesAll)) {
      await edge.advance()
      settledAt = startedAt
    }
    const reads = mayRead && positions.settled < edge.settled()
    if (!seesAll && reads) continue
    // The next leadership may have started: its wait would not be woken next to this one.
    if (options.ended()) return true
    const endedAt = timers.now()
    const isBusy = positions.unsettled || !seesAll || positions.outstanding > 0
    await waker.wait(isBusy ? settleMs : msToIdleTick(pollMs, undefined, timers))
    // Under load looks are fewer and larger.
    const restsUntil = endedAt + Math.min(endedAt - startedAt, longestPauseMs)
    if (timers.now() < restsUntil) await waker.pause(restsUntil - timers.now())
  }
  return true
}

/**
 * Up to which position no commit can appear any more. A transaction that draws a position has a lock on the outbox from before
 * until its commit: once all that held one when the log ended at a position have ended, nothing is missing below. It counts once the
 * WAL up to there is on disk: a Postgres that dies before draws those positions again, for others.
 */
function createEdge(store: Pick<RelayStore, 'edge'>) {
  let settled = 0
  let next: { position: number; logged: number; writers: ReadonlySet<string>; history: string } | undefined
  return {
    settled: () => settled,
    async advance(): Promise<void> {
      const { last, writers, logged, flushed, history } = await store.edge()
      // Postgres died before the WAL up to there was on disk: others draw those positions, who are no writers yet.
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
