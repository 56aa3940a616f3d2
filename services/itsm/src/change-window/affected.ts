import { ChangeState, ChangeWindowState, type PlatformEvent, type TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { pendingStatuses } from './conflict-events.js'
import { occupyingStatuses } from './conflict-reader.js'
import { toPlan } from './conflicts.js'
import { findClosure } from './dependency-closure.js'
import type { TenantLinks } from './impact-links.js'

/** Fields of a change that can make it collide with other changes. */
const plannedFields = ['plannedStart', 'plannedEnd', 'ciIds', 'assigneeId']

/** A change to check, and the event that causes the check. */
export interface AffectedChange {
  id: string
  event: PlatformEvent
}

/** Returns each pending change whose conflicts these events may have altered once. */
export async function findAffected(
  sql: StatementRunner,
  events: readonly PlatformEvent[],
  tenantLinks: TenantLinks,
): Promise<AffectedChange[]> {
  const found = new Map<string, PlatformEvent>()
  for (const event of events)
    for (const id of await findAffectedBy(sql, event, tenantLinks)) found.set(id, event)
  return [...found].map(([id, event]) => ({ id, event }))
}

async function findAffectedBy(
  sql: StatementRunner,
  event: PlatformEvent,
  tenantLinks: TenantLinks,
): Promise<string[]> {
  const tenant = { workspaceId: event.workspaceId, environment: event.environment }
  const states = [event.data.before, event.data.after].filter((state) => state !== null)
  const found = new Set<string>()
  if (event.resource.type === 'change_window') {
    for (const state of states)
      for (const id of await findCollidingWithWindow(sql, tenant, ChangeWindowState.parse(state)))
        found.add(id)
  } else {
    const isReplanned = alters(event, plannedFields)
    if (!isReplanned && !alters(event, ['status'])) return []
    const changes = states.map((state) => ChangeState.parse(state))
    if (!changes.some(({ status }) => occupyingStatuses.includes(status))) return []
    for (const change of isReplanned ? changes : changes.slice(-1))
      for (const id of await findCollidingWithChange(sql, tenant, change, tenantLinks)) found.add(id)
    found.add(event.resource.id)
  }
  return [...found].sort()
}

const alters = ({ data }: PlatformEvent, names: readonly string[]) =>
  data.changes.some((name) => names.includes(name))

const instant = (ms: number) => new Date(ms).toISOString()

/** Returns the changes that collide with `change`, and those that have recorded a conflict with it. */
async function findCollidingWithChange(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  change: ChangeState,
  tenantLinks: TenantLinks,
): Promise<string[]> {
  const plan = toPlan(change)
  if (!plan) return []
  const related = await findClosure(tenantLinks({ workspaceId, environment }), plan.ciIds)
  const rows = await sql.unsafe<{ id: string }[]>(
    `select id from changes
      where workspace_id = $1 and environment = $2 and planned_start is not null
        and planned_span(planned_start, planned_end) && planned_span($3, $4) and status = any($5::text[])
        and (ci_ids ?| $6::text[] or assignee_id = $7 or strpos(state->>'conflicts', $8) > 0)`,
    [
      workspaceId,
      environment,
      instant(plan.span.from),
      instant(plan.span.to),
      [...pendingStatuses],
      [...plan.ciIds, ...related.keys()],
      plan.assigneeId ?? '',
      plan.id,
    ],
  )
  return rows.map(({ id }) => id)
}

/**
 * An item with a future maintenance window must not be changed before
 * that window either, so `startsAt` is ignored for maintenance windows.
 */
async function findCollidingWithWindow(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  { id, kind, startsAt, endsAt, ciIds }: ChangeWindowState,
): Promise<string[]> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `select id from changes
      where workspace_id = $1 and environment = $2 and planned_start is not null
        and planned_span(planned_start, planned_end) && planned_span($3, $4) and status = any($5::text[])
        and ($6::text[] is null or ci_ids ?| $6::text[] or strpos(state->>'conflicts', $7) > 0)`,
    [
      workspaceId,
      environment,
      kind === 'maintenance' ? null : startsAt,
      endsAt,
      [...pendingStatuses],
      ciIds,
      id,
    ],
  )
  return rows.map((row) => row.id)
}
