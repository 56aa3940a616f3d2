import type { AcceptConflicts, ChangeConflict, ChangeState, Instant, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import type { Clash } from './blackout-guard.js'
import { createReader } from './conflict-reader.js'
import { type ConflictContext, detectBlackouts, detectConflicts, type Plan, toPlan } from './conflicts.js'
import { findClosure } from './dependency-closure.js'
import { linksInDatabase } from './impact-links.js'

/** Returns the current conflicts of a change. A change without planned times has none. */
export async function findConflicts(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
): Promise<ChangeConflict[]> {
  const plan = toPlan(change)
  return plan ? detectConflicts(plan, await readConflictContext(sql, tenant, plan)) : []
}

/** Reads everything that can collide with the plan at any time of its span. */
export async function readConflictContext(
  sql: StatementRunner,
  tenant: TenantScope,
  plan: Plan,
): Promise<ConflictContext> {
  const read = createReader(sql, tenant)
  const related = await findClosure(linksInDatabase(sql, tenant), plan.ciIds)
  const classes = await read.classes(plan.ciIds)
  const others = await read.others(plan, [...plan.ciIds, ...related.keys()])
  const windows = await read.windows(plan.ciIds, [...new Set(classes.values())], plan.span)
  return { others, windows, classes, related }
}

/** Returns the conflicts of a change at its submission, together with the caller's acceptance of them. */
export async function findClash(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
  acceptance: AcceptConflicts,
): Promise<Clash> {
  return { conflicts: await findConflicts(sql, tenant, change), acceptance }
}

/** Returns the blackouts that the change would fall into between now and its planned end if it began now. */
export async function findClashNow(
  sql: StatementRunner,
  tenant: TenantScope,
  { id, ciIds, assigneeId, plannedEnd }: ChangeState,
  acceptance: AcceptConflicts,
  now: Instant,
): Promise<Clash> {
  const from = Date.parse(now)
  const to = Math.max(from + 1, plannedEnd === null ? 0 : Date.parse(plannedEnd))
  const plan = { id, ciIds, assigneeId, span: { from, to } }
  const read = createReader(sql, tenant)
  const classes = await read.classes(ciIds)
  const windows = await read.windows(ciIds, [...new Set(classes.values())], plan.span)
  const around = { others: [], windows, classes, related: new Map() }
  return { conflicts: detectBlackouts(plan, around), acceptance }
}
