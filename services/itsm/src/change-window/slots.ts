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
/** Slots begin on quarter hours. */
const stepMs = 15 * minuteMs
const roundedUp = (instant: number) => Math.ceil(instant / stepMs) * stepMs

export interface FreeSlotsQuery {
  plan: Plan
  /** Context read for the span `within`. */
  around: ConflictContext
  /** Span in which slots begin and end. */
  within: Span
  durationMs: number
  count: number
}

/** Returns the next consecutive times at which the plan would have no conflict. */
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

/** Spans of blackouts and of other changes that collide with the plan whenever they overlap it. */
function busySpans(plan: Plan, around: ConflictContext, within: Span): Span[] {
  const anyTime = { ...plan, span: within }
  const colliding = around.others.filter((other) => detectChangeConflicts(anyTime, other, around).length > 0)
  const blackoutIds = new Set(detectBlackouts(anyTime, around).map((conflict) => conflict.with))
  const blackouts = around.windows.filter(({ id }) => blackoutIds.has(id))
  return [...colliding.map(({ span }) => span), ...blackouts.flatMap((window) => occurrences(window, within))]
}

/** Times at which an item may be changed. */
interface Maintenance {
  open: Span[]
  /** Instant of the end of its last window. From then on the item may be changed at any time. */
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
