import { idTime } from '@opsplane/contracts'

export const dayMs = 86_400_000
const marginMs = 3_600_000

/** A day (UTC) as its number since 1970. */
export function toDayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs)
}

/** The last day that ended at least `keptDays` days ago. */
export function lastExpiredDay(nowMs: number, keptDays: number): number {
  return toDayNumber(nowMs) - keptDays - 1
}

/**
 * Whether an event is so old that its deliveries may have been dropped: delivered now, it could arrive a second
 * time. An hour early, since clocks differ and a batch takes a while.
 */
export function isBeyondRetention(eventId: string, nowMs: number, keptDays: number): boolean {
  return toDayNumber(idTime(eventId)) <= lastExpiredDay(nowMs + marginMs, keptDays)
}
