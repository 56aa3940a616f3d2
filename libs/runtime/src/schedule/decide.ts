import type { MisfirePolicy, OverlapPolicy, Schedule } from '@opsplane/contracts'
import type { Times } from './cron-times.js'
import { createTimes } from './times.js'

interface DueFires {
  /** The first time that is not decided yet. */
  plannedAt: number
  now: number
  /** Maximum delay at which a time still counts as on time; a minute if absent. */
  graceMs?: number
}

interface FireDecision {
  /** Times to start now, in order; late ones according to the misfire policy. */
  fires: number[]
  /** The next time to plan; `undefined` if there is none. */
  next: number | undefined
}

const onTimeMs = 60_000

/** Decides at an instant which due times of a schedule are started. */
export function decideFires(
  schedule: Schedule,
  { plannedAt, now, graceMs = onTimeMs }: DueFires,
): FireDecision {
  const times = createTimes(schedule)
  if (plannedAt > now) return { fires: [], next: plannedAt }
  const pending = latestUntil(times, { from: plannedAt, now, most: schedule.maxCatchUp })
  return { fires: kept(schedule.misfire, pending, now - graceMs), next: times.after(now) }
}

/**
 * The latest times until now, in order. Limited, because an outage of a year contains more than a schedule catches
 * up on.
 */
function latestUntil(
  times: Times,
  { from, now, most }: { from: number; now: number; most: number },
): number[] {
  const found: number[] = []
  for (
    let at = times.before(now + 1);
    at !== undefined && at >= from && found.length < most;
    at = times.before(at)
  )
    found.unshift(at)
  return found
}

function kept(policy: MisfirePolicy, pending: number[], lateBefore: number): number[] {
  const isLate = (at: number) => at < lateBefore
  if (policy === 'all' || !pending.some(isLate)) return pending
  return policy === 'once' ? pending.slice(-1) : pending.filter((at) => !isLate(at))
}

/** How work is started while `active` earlier starts are still running or waiting. */
export type OverlapDecision = 'start' | 'queue' | 'replace' | 'skip'

export function decideOverlap(
  { overlap, maxCatchUp }: Pick<Schedule, 'maxCatchUp'> & { overlap: OverlapPolicy },
  active: number,
): OverlapDecision {
  if (active === 0) return 'start'
  if (overlap === 'cancel_previous') return 'replace'
  return overlap === 'queue' && active <= maxCatchUp ? 'queue' : 'skip'
}
