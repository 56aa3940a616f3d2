import type { ChangeSlots, ChangeState, Instant, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { readConflictContext } from './conflict-context.js'
import { maxOthers } from './conflict-reader.js'
import { toPlan } from './conflicts.js'
import { findFreeSlots } from './slots.js'

export interface SlotsQuery {
  durationMinutes?: number | undefined
  /** Length of the search range in days. */
  within: number
  now: Instant
}

const minuteMs = 60_000
const maxSlots = 5

/** Returns the next free slots of a change, given the current changes and windows. */
export async function findSlots(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
  { durationMinutes: wanted, within: days, now }: SlotsQuery,
): Promise<ChangeSlots> {
  const from = Date.parse(now)
  const within = { from, to: from + days * 1_440 * minuteMs }
  const planned = toPlan(change)?.span
  const plannedMinutes = planned ? Math.ceil((planned.to - planned.from) / minuteMs) : 60
  const durationMinutes = wanted ?? plannedMinutes
  const { id, ciIds, assigneeId } = change
  const plan = { id, ciIds, assigneeId, span: within }
  const around = await readConflictContext(sql, tenant, plan)
  // There may be unread changes after the last one that was read.
  const known =
    around.others.length < maxOthers ? within : { from, to: around.others.at(-1)?.span.from ?? from }
  const slots = findFreeSlots({
    plan,
    around,
    within: known,
    durationMs: durationMinutes * minuteMs,
    count: maxSlots,
  })
  const shown = slots.map((slot) => ({
    from: new Date(slot.from).toISOString(),
    to: new Date(slot.to).toISOString(),
  }))
  return { durationMinutes, slots: shown }
}
