import {
  type SlaClockState,
  type SlaEntityType,
  SlaPolicyState,
  type SlaTimer,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { storedTimer } from './stored-timer.js'
import { type slaCalendars, slaPolicies, slaTimers } from './tables.js'

const within = (
  table: typeof slaPolicies | typeof slaTimers | typeof slaCalendars,
  { workspaceId, environment }: TenantScope,
) => and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))

/** The policies that name a calendar. */
export async function policiesOfCalendar(
  db: Drizzle,
  tenant: TenantScope,
  id: string,
): Promise<SlaPolicyState[]> {
  const rows = await db
    .select({ state: slaPolicies.state })
    .from(slaPolicies)
    .where(and(within(slaPolicies, tenant), sql`${slaPolicies.state}->>'calendarId' = ${id}`))
  return rows.map(({ state }) => SlaPolicyState.parse(state))
}

/** The clocks of an entity, the first to start first. */
export async function timersOfEntity(db: Drizzle, tenant: TenantScope, id: string): Promise<SlaTimer[]> {
  const rows = await db
    .select({ state: slaTimers.state })
    .from(slaTimers)
    .where(and(within(slaTimers, tenant), eq(slaTimers.entityId, id)))
    .orderBy(asc(slaTimers.id))
  return rows.map(({ state }) => storedTimer(state))
}

export interface TimerFilters {
  entityType?: SlaEntityType | undefined
  entityId?: string | undefined
  policyId?: string | undefined
  state?: SlaClockState[] | undefined
  breached?: 'true' | 'false' | undefined
  dueBefore?: string | undefined
}

export function timerConditions(filters: TimerFilters): (SQL | undefined)[] {
  const { entityType, entityId, policyId, state, breached, dueBefore } = filters
  return [
    entityType && eq(slaTimers.entityType, entityType),
    entityId === undefined ? undefined : eq(slaTimers.entityId, entityId),
    policyId === undefined ? undefined : eq(slaTimers.policyId, policyId),
    state && inArray(slaTimers.clockState, state),
    breached && eq(slaTimers.breached, breached),
    dueBefore === undefined ? undefined : lt(slaTimers.dueOrder, dueBefore),
  ]
}
