import type { ChangeSlots, ChangeState, Instant, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { conflictContextOf } from './conflict-context.js'
import { planOf } from './conflicts.js'
import { mostOthers } from './reader.js'
import { freeSlots } from './slots.js'

export interface SlotsQuestion {
  durationMinutes?: number | undefined
  /** Days. */
  within: number
  now: Instant
}

const minuteMs = 60_000
const most = 5

/** The next free times of a change, from what is near it now. */
export async function slotsFor(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
  { durationMinutes: wanted, within: days, now }: SlotsQuestion,
): Promise<ChangeSlots> {
  const from = Date.parse(now)
  const within = { from, to: from + days * 1_440 * minuteMs }
  const planned = planOf(change)?.span
  const plannedMinutes = planned ? Math.ceil((planned.to - planned.from) / minuteMs) : 60
  const durationMinutes = wanted ?? plannedMinutes
  const { id, ciIds, assigneeId } = change
  const plan = { id, ciIds, assigneeId, span: within }
  const around = await conflictContextOf(sql, tenant, plan)
  // Beyond the last of those that were read there may be others.
  const known =
    around.others.length < mostOthers ? within : { from, to: around.others.at(-1)?.span.from ?? from }
  const slots = freeSlots({
    plan,
    around,
    within: known,
    durationMs: durationMinutes * minuteMs,
    count: most,
  })
  const shown = slots.map((slot) => ({
    from: new Date(slot.from).toISOString(),
    to: new Date(slot.to).toISOString(),
  }))
  return { durationMinutes, slots: shown }
}
