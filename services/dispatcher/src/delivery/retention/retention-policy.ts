import { idTime } from '@opsplane/contracts'

export const dayMs = 86_400_000
const marginMs = 3_600_000

/** The number of a UTC day since 1970. */
export function toDayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs)
}

/** The last day that ended at least `keptDays` days ago. */
export function lastExpiredDay(nowMs: number, keptDays: number): number {
  return toDayNumber(nowMs) - keptDays - 1
}

/**
 * Whether an event is so old that its deliveries may have been dropped, so that it could be delivered twice. True an
 * hour early, because clocks differ and a batch takes a while.
 */
export function isBeyondRetention(eventId: string, nowMs: number, keptDays: number): boolean {
  return toDayNumber(idTime(eventId)) <= lastExpiredDay(nowMs + marginMs, keptDays)
}
