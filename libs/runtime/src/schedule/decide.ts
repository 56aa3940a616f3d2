import type { MisfirePolicy, OverlapPolicy, Schedule } from '@opsplane/contracts'
import type { Times } from './cron-times.js'
import { createTimes } from './times.js'

interface DueFires {
  /** The first time that nothing was decided about yet. */
  plannedAt: number
  now: number
  /** What is late by no more is on time; a minute without. */
  graceMs?: number
}

interface FireDecision {
  /** Times to make up for or to keep, in order; late ones as the misfire policy has it. */
  fires: number[]
  /** The time to plan next; undefined when there is none. */
  next: number | undefined
}

const onTimeMs = 60_000

/** What is to be done at an instant about the times of a schedule that have come. */
export function decideFires(
  schedule: Schedule,
  { plannedAt, now, graceMs = onTimeMs }: DueFires,
): FireDecision {
  const times = createTimes(schedule)
  if (plannedAt > now) return { fires: [], next: plannedAt }
  const pending = latestUntil(times, { from: plannedAt, now, most: schedule.maxCatchUp })
  return { fires: kept(schedule.misfire, pending, now - graceMs), next: times.after(now) }
}

/** The latest times until now, in order: an outage of a year has more than a schedule catches up on. */
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

/** How something is begun while `active` of what was begun earlier goes on, or waits to. */
export type OverlapDecision = 'start' | 'queue' | 'replace' | 'skip'

export function decideOverlap(
  { overlap, maxCatchUp }: Pick<Schedule, 'maxCatchUp'> & { overlap: OverlapPolicy },
  active: number,
): OverlapDecision {
  if (active === 0) return 'start'
  if (overlap === 'cancel_previous') return 'replace'
  return overlap === 'queue' && active <= maxCatchUp ? 'queue' : 'skip'
}
