import { systemTimers, type Timers } from '@opsplane/runtime'
import { type Lease, leaseMs } from './relay-store.js'

/** By so much earlier than the database does, the holder takes its lease to have run out. */
const marginMs = 500

/** A lease as its holder sees it, by its own monotonic clock. */
export interface TrackedLease extends Lease {
  /** How long it lasts without being renewed, in ms; 0 or less when it may be another's by now. */
  lastsMs(): number
  /** The database has renewed it: `askedAt` is when that was asked for. */
  recordRenewal(askedAt: number): void
}

export function trackLease(
  lease: Lease,
  askedAt: number,
  timers: Pick<Timers, 'now'> = systemTimers,
): TrackedLease {
  let deadline = askedAt + leaseMs - marginMs
  return {
    ...lease,
    lastsMs: () => deadline - timers.now(),
    recordRenewal(at) {
      deadline = Math.max(deadline, at + leaseMs - marginMs)
    },
  }
}
