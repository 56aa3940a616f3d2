import { readModelTable, stateInteger, stateText } from '@opsplane/postgres'
import { isNotNull } from 'drizzle-orm'
import { index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'

export const slaPolicies = readModelTable(
  'sla_policies',
  { status: stateText('status', 'status') },
  (table) => [
    index('sla_policies_list_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)
export const slaCalendars = readModelTable('sla_calendars', {}, (table) => [
  index('sla_calendars_list_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])

/** Every revision there was: clocks are pinned to the one they began with. */
export const slaPolicyRevisions = readModelTable('sla_policy_revisions', {})
export const slaCalendarRevisions = readModelTable('sla_calendar_revisions', {})

export const slaTimers = readModelTable(
  'sla_timers',
  {
    incidentId: stateText('incident_id', 'entityId'),
    policyId: stateText('policy_id', 'policyId'),
    metric: stateText('metric', 'metric'),
    cycle: stateInteger('cycle', 'cycle'),
    clockState: stateText('clock_state', 'state'),
    dueAt: stateText('due_at', 'dueAt'),
    nextFireAt: stateText('next_fire_at', 'nextFireAt'),
  },
  (table) => [
    uniqueIndex('sla_timers_incident_key').on(table.incidentId, table.policyId, table.metric),
    index('sla_timers_fire_idx').on(table.nextFireAt, table.id).where(isNotNull(table.nextFireAt)),
    index('sla_timers_policy_idx').on(
      table.workspaceId,
      table.environment,
      table.policyId,
      table.clockState,
      table.id,
    ),
  ],
)

/** Breaches as the log tells of them in the name of the incident, as it was then: see ADR 024. */
export const incidentSlaBreaches = readModelTable('incident_sla_breaches', {})

/** How far the clocks have heeded each incident's events. Whoever changes clocks for events holds this row. */
export const slaProgress = pgTable('sla_progress', {
  incidentId: text('incident_id').primaryKey(),
  version: integer('version').notNull(),
})
