import { SlaPolicyState, type TenantScope } from '@opsplane/contracts'
import { type Drizzle, matchesText, type Selection } from '@opsplane/postgres'
import { and, eq, inArray, lt, type SQL } from 'drizzle-orm'
import { createdWithin } from '../lists/created-filters.js'
import { slaCalendars, slaPolicies, slaTimers } from '../schema/sla.js'
import type { CalendarFilters, PolicyFilters, TimerFilters } from './list-filters.js'

export const timerSorts = { createdAt: slaTimers.createdAt, dueAt: slaTimers.dueOrder }

export function policySelection(filters: PolicyFilters): Selection {
  const { status, entityType, metric, calendarId } = filters
  return {
    where: [
      metric && eq(slaPolicies.metric, metric),
      calendarId === undefined ? undefined : eq(slaPolicies.calendarId, calendarId),
      ...createdWithin(slaPolicies.createdAt, filters),
    ],
    anyOf: [
      status && { column: slaPolicies.status, values: status },
      entityType && { column: slaPolicies.entityType, values: entityType },
    ],
    search: words(slaPolicies, filters),
  }
}

export function calendarSelection(filters: CalendarFilters): Selection {
  const { timeZone } = filters
  return {
    where: [
      timeZone === undefined ? undefined : eq(slaCalendars.timeZone, timeZone),
      ...createdWithin(slaCalendars.createdAt, filters),
    ],
    search: words(slaCalendars, filters),
  }
}

/** Selection of clocks among those the caller may see. */
export function timerSelection(filters: TimerFilters, visible: SQL | undefined): Selection {
  const { entityType, entityId, policyId, metric, state, breached, dueBefore } = filters
  return {
    where: [
      visible,
      // No index has the entity type before the sort key, so a scan for each type would scan the whole list.
      entityType && inArray(slaTimers.entityType, entityType),
      entityId === undefined ? undefined : eq(slaTimers.entityId, entityId),
      policyId === undefined ? undefined : eq(slaTimers.policyId, policyId),
      metric && eq(slaTimers.metric, metric),
      breached && eq(slaTimers.breached, breached),
      dueBefore === undefined ? undefined : lt(slaTimers.dueOrder, dueBefore),
      ...createdWithin(slaTimers.createdAt, filters),
    ],
    anyOf: [state && { column: slaTimers.clockState, values: state }],
    search: words(slaTimers, filters),
  }
}

type Listed = typeof slaPolicies | typeof slaCalendars | typeof slaTimers

const words = ({ search }: Listed, { q }: { q?: string | undefined }): SQL | undefined =>
  q === undefined ? undefined : matchesText(search, q)

/** Returns the policies that use a calendar. */
export async function policiesOfCalendar(
  db: Pick<Drizzle, 'select'>,
  { workspaceId, environment }: TenantScope,
  id: string,
): Promise<SlaPolicyState[]> {
  const ofTenant = [eq(slaPolicies.workspaceId, workspaceId), eq(slaPolicies.environment, environment)]
  const rows = await db
    .select({ state: slaPolicies.state })
    .from(slaPolicies)
    .where(and(...ofTenant, eq(slaPolicies.calendarId, id)))
  return rows.map(({ state }) => SlaPolicyState.parse(state))
}
