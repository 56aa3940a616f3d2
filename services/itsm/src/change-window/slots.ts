import type { ChangeWindowState } from '@opsplane/contracts'
import {
  type ConflictContext,
  covers,
  detectBlackouts,
  detectChangeConflicts,
  type Plan,
} from './conflicts.js'
import { occurrences } from './occurrences.js'
import { containsSpan, mergeSpans, overlap, type Span } from './spans.js'

const minuteMs = 60_000
/** Slots begin on quarters of an hour. */
const stepMs = 15 * minuteMs
const roundedUp = (instant: number) => Math.ceil(instant / stepMs) * stepMs

export interface FreeSlotsQuery {
  plan: Plan
  /** Read for `within`. */
  around: ConflictContext
  /** Slots begin and end in it. */
  within: Span
  durationMs: number
  count: number
}

/** The next times, one after another, at which the plan would have no conflict. */
export function findFreeSlots({ plan, around, within, durationMs, count }: FreeSlotsQuery): Span[] {
  const busy = mergeSpans(busySpans(plan, around, within))
  const maintenance = findMaintenance(plan, around, within)
  const slots: Span[] = []
  let from = roundedUp(within.from)
  while (slots.length < count && from + durationMs <= within.to) {
    const slot = { from, to: from + durationMs }
    const obstacle = busy.find((span) => overlap(span, slot))
    const closed = maintenance.find((times) => slot.from < times.until && !containsSpan(times.open, slot))
    if (obstacle) from = roundedUp(obstacle.to)
    else if (closed) from = roundedUp(nextOpening(closed, slot.from))
    else {
      slots.push(slot)
      from = slot.to
    }
    from = roundedUp(from)
  }
  return slots
}

/** Other changes it would collide with whenever they overlap, and blackouts. */
function busySpans(plan: Plan, around: ConflictContext, within: Span): Span[] {
  const anyTime = { ...plan, span: within }
  const colliding = around.others.filter((other) => detectChangeConflicts(anyTime, other, around).length > 0)
  const standing = new Set(detectBlackouts(anyTime, around).map((conflict) => conflict.with))
  const blackouts = around.windows.filter(({ id }) => standing.has(id))
  return [...colliding.map(({ span }) => span), ...blackouts.flatMap((window) => occurrences(window, within))]
}

/** When an item may be worked on. */
interface Maintenance {
  open: Span[]
  /** From then on at any time: its last window is over. */
  until: number
}

function findMaintenance(plan: Plan, { windows, classes }: ConflictContext, within: Span): Maintenance[] {
  const all = windows.filter(({ kind }) => kind === 'maintenance')
  const sets = new Map<string, ChangeWindowState[]>()
  for (const id of plan.ciIds) {
    const own = all.filter((window) => covers(window, id, classes))
    if (own.length > 0) sets.set(own.map((window) => window.id).join(), own)
  }
  return [...sets.values()].map((own) => ({
    open: mergeSpans(own.flatMap((window) => occurrences(window, within))),
    until: Math.max(
      ...own.map(({ endsAt }) => (endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(endsAt))),
    ),
  }))
}

const nextOpening = ({ open, until }: Maintenance, after: number): number =>
  Math.min(until, ...open.filter(({ from }) => from > after).map(({ from }) => from))
