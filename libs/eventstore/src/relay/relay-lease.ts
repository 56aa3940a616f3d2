import { systemTimers, type Timers } from '@opsplane/runtime'
import { type Lease, leaseMs } from './relay-store.js'

/** The holder treats its lease as expired this much earlier than the database does. */
const marginMs = 500

/** A lease as its holder tracks it, by its own monotonic clock. */
export interface TrackedLease extends Lease {
  /** Remaining time without renewal in ms; 0 or less if another replica may have the lease by now. */
  lastsMs(): number
  /** The database has renewed the lease; `requestedAt` is when the renewal was requested. */
  recordRenewal(requestedAt: number): void
}

export function trackLease(
  lease: Lease,
  requestedAt: number,
  timers: Pick<Timers, 'now'> = systemTimers,
): TrackedLease {
  let deadline = requestedAt + leaseMs - marginMs
  return {
    ...lease,
    lastsMs: () => deadline - timers.now(),
    recordRenewal(at) {
      deadline = Math.max(deadline, at + leaseMs - marginMs)
    },
  }
}
