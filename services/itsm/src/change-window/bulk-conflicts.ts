import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeConflict, ChangeState, ChangeWindowState, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { createReader, maxOthers } from './conflict-reader.js'
import { detectConflicts, type OtherChange, type Plan, toPlan } from './conflicts.js'
import { findClosure } from './dependency-closure.js'
import type { ImpactLinks } from './links-in-memory.js'
import { mergeSpans, overlap } from './spans.js'

/** Maximum number of overlapping changes that are read together. Beyond it they are queried for each change. */
const maxOverlapping = 5_000

/**
 * Returns the conflicts of each of many changes. The result is the same as calling `findConflicts` for each, with as
 * many statements as for one: reads everything near any of the changes, then filters it in memory for each change.
 */
export async function findConflictsOfMany(
  sql: StatementRunner,
  tenant: TenantScope,
  changes: readonly ChangeState[],
  links: ImpactLinks,
  maxOverlaps = maxOverlapping,
): Promise<Map<string, ChangeConflict[]>> {
  const found = new Map<string, ChangeConflict[]>(changes.map(({ id }) => [id, []]))
  const plans = changes.flatMap((change) => toPlan(change) ?? [])
  if (plans.length === 0) return found
  const read = createReader(sql, tenant)
  const ciIds = [...new Set(plans.flatMap((plan) => plan.ciIds))]
  const spans = mergeSpans(plans.map(({ span }) => span))
  const classes = await read.classes(ciIds)
  const overlapping = await read.overlapping(spans, maxOverlaps)
  const windows = await read.windows(ciIds, [...new Set(classes.values())], {
    from: Math.min(...spans.map(({ from }) => from)),
    to: Math.max(...spans.map(({ to }) => to)),
  })
  for (const plan of plans) {
    const related = await findClosure(links, plan.ciIds)
    const others = overlapping
      ? selectOthers(plan, overlapping, related)
      : await read.others(plan, [...plan.ciIds, ...related.keys()])
    found.set(
      plan.id,
      detectConflicts(plan, { others, windows: selectWindows(plan, windows), classes, related }),
    )
    // Yield to other work.
    await nextTurn()
  }
  return found
}

/** Filters the changes that overlap any plan. The result equals the database query for this one plan. */
function selectOthers(
  { id, span, ciIds, assigneeId }: Plan,
  overlapping: readonly OtherChange[],
  related: ReadonlyMap<string, string>,
): OtherChange[] {
  const own = new Set(ciIds)
  const meets = (other: OtherChange) =>
    (assigneeId !== null && other.assigneeId === assigneeId) ||
    other.ciIds.some((item) => own.has(item) || related.has(item))
  return overlapping
    .filter((other) => other.id !== id && overlap(span, other.span) && meets(other))
    .slice(0, maxOthers)
}

/** Drops the windows that cover only other items. The rules check classes and times. */
function selectWindows({ ciIds }: Plan, windows: readonly ChangeWindowState[]): ChangeWindowState[] {
  const own = new Set(ciIds)
  return windows.filter((window) => window.ciIds?.some((id) => own.has(id)) ?? true)
}
