import { SlaTimer, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, count, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { type slaCalendars, slaPolicies, slaTimers } from './tables.js'

const within = (
  table: typeof slaPolicies | typeof slaTimers | typeof slaCalendars,
  { workspaceId, environment }: TenantScope,
) => and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))

/** How many policies name a calendar. */
export async function policiesOfCalendar(db: Drizzle, tenant: TenantScope, id: string): Promise<number> {
  const [row] = await db
    .select({ count: count() })
    .from(slaPolicies)
    .where(and(within(slaPolicies, tenant), sql`${slaPolicies.state}->>'calendarId' = ${id}`))
  return row?.count ?? 0
}

/** The clocks of an incident, the first to start first. */
export async function timersOfIncident(db: Drizzle, tenant: TenantScope, id: string): Promise<SlaTimer[]> {
  const rows = await db
    .select({ state: slaTimers.state })
    .from(slaTimers)
    .where(and(within(slaTimers, tenant), eq(slaTimers.incidentId, id)))
    .orderBy(asc(slaTimers.id))
  return rows.map(({ state }) => SlaTimer.parse(state))
}

const openClocks = (tenant: TenantScope, policyId: string): SQL | undefined =>
  and(
    within(slaTimers, tenant),
    eq(slaTimers.policyId, policyId),
    inArray(slaTimers.clockState, ['running', 'paused']),
  )

export async function countOpen(db: Drizzle, tenant: TenantScope, policyId: string): Promise<number> {
  const [row] = await db.select({ count: count() }).from(slaTimers).where(openClocks(tenant, policyId))
  return row?.count ?? 0
}

export interface Revisions {
  policy: number
  calendar: { id: string; revision: number } | null
}

/** Open clocks of a policy that are pinned to other revisions than these, `limit` of them, and how many there are. */
export async function outdated(
  db: Drizzle,
  tenant: TenantScope,
  policyId: string,
  { policy, calendar }: Revisions,
  limit: number,
): Promise<{ count: number; timers: { state: SlaTimer; version: number }[] }> {
  const pinned = sql`(${slaTimers.state}->>'policyRevision', coalesce(${slaTimers.state}->>'calendarId', ''),
    coalesce(${slaTimers.state}->>'calendarRevision', ''))`
  const present = sql`(${String(policy)}, ${calendar?.id ?? ''}, ${String(calendar?.revision ?? '')})`
  const where = and(openClocks(tenant, policyId), sql`${pinned} <> ${present}`)
  const [total] = await db.select({ count: count() }).from(slaTimers).where(where)
  const rows = await db
    .select({ state: slaTimers.state, version: slaTimers.version })
    .from(slaTimers)
    .where(where)
    .orderBy(asc(slaTimers.id))
    .limit(limit)
  const timers = rows.map(({ state, version }) => ({ state: SlaTimer.parse(state), version }))
  return { count: total?.count ?? 0, timers }
}
