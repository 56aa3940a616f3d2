import {
  dueIndexes,
  dueTable,
  readModelTable,
  retryColumns,
  searchColumn,
  searchIndex,
  stateInteger,
  stateText,
} from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'

export const slaPolicies = readModelTable(
  'sla_policies',
  {
    status: stateText('status', 'status'),
    entityType: stateText('entity_type', 'entityType'),
    metric: stateText('metric', 'metric'),
    calendarId: stateText('calendar_id', 'calendarId'),
    name: stateText('name', 'name'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', { names: ['name'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('sla_policies_list_idx').on(workspaceId, environment, createdAt, id),
      index('sla_policies_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('sla_policies_name_idx').on(workspaceId, environment, table.name, id),
      index('sla_policies_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('sla_policies_entity_idx').on(workspaceId, environment, table.entityType, createdAt, id),
      index('sla_policies_calendar_idx').on(workspaceId, environment, table.calendarId, createdAt, id),
      searchIndex('sla_policies_search_idx', workspaceId, table.search),
    ]
  },
)
export const slaCalendars = readModelTable(
  'sla_calendars',
  {
    name: stateText('name', 'name'),
    timeZone: stateText('time_zone', 'timeZone'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', { names: ['name'], labels: ['timeZone'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('sla_calendars_list_idx').on(workspaceId, environment, createdAt, id),
      index('sla_calendars_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('sla_calendars_name_idx').on(workspaceId, environment, table.name, id),
      searchIndex('sla_calendars_search_idx', workspaceId, table.search),
    ]
  },
)

/** All revisions of policies. A clock is pinned to the revision it began with. */
export const slaPolicyRevisions = readModelTable('sla_policy_revisions', {})
export const slaCalendarRevisions = readModelTable('sla_calendar_revisions', {})

/** Time for requests in flight to commit, in milliseconds, so that work done in time counts as done in time. */
export const settleMs = 1_000

/** Clocks with a warning or breach to report. */
export const dueTimers = dueTable({
  table: 'sla_timers',
  key: 'id',
  dueAt: `due_instant(state->>'nextFireAt', ${settleMs})`,
  waiting: 'next_fire_at is not null',
  fairKey: 'workspace_id',
  indexPrefix: 'sla_timers_fire',
})

export const slaTimers = readModelTable(
  'sla_timers',
  {
    /** The column is named after incidents, the first kind of entity. */
    entityId: stateText('incident_id', 'entityId'),
    entityType: stateText('entity_type', 'entityType'),
    breached: stateText('breached', 'breached'),
    policyId: stateText('policy_id', 'policyId'),
    metric: stateText('metric', 'metric'),
    cycle: stateInteger('cycle', 'cycle'),
    clockState: stateText('clock_state', 'state'),
    dueAt: stateText('due_at', 'dueAt'),
    nextFireAt: stateText('next_fire_at', 'nextFireAt'),
    /** Sort column for paging, which a null would break: clocks without a known due time come after all others. */
    dueOrder: text('due_order').generatedAlwaysAs(sql.raw(`coalesce(state->>'dueAt', 'unknown')`)),
    search: searchColumn('search', { names: ['entityNumber'], labels: ['policyName'] }),
    ...retryColumns(),
  },
  (table) => [
    uniqueIndex('sla_timers_incident_key').on(table.entityId, table.policyId, table.metric),
    index('sla_timers_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
    index('sla_timers_due_idx').on(table.workspaceId, table.environment, table.dueOrder, table.id),
    index('sla_timers_state_idx').on(
      table.workspaceId,
      table.environment,
      table.clockState,
      table.dueOrder,
      table.id,
    ),
    // For the newest clocks of a state: these may be anywhere in the list, because the oldest clocks are all completed.
    index('sla_timers_state_created_idx').on(
      table.workspaceId,
      table.environment,
      table.clockState,
      table.createdAt,
      table.id,
    ),
    searchIndex('sla_timers_search_idx', table.workspaceId, table.search),
    ...dueIndexes(dueTimers),
    index('sla_timers_policy_idx').on(
      table.workspaceId,
      table.environment,
      table.policyId,
      table.clockState,
      table.id,
    ),
  ],
)

/** Breaches as events of the incident, with the state it had then. See ADR 024. */
export const incidentSlaBreaches = readModelTable('incident_sla_breaches', {})

/**
 * The last version of each entity whose events the clocks have applied, and the last
 * version of each clock whose reports the escalations have handled. A transaction
 * that changes clocks for events, or incidents for clocks, locks this row.
 */
export const slaProgress = pgTable('sla_progress', {
  /** Id of an entity or a clock. The column is named after incidents, the first kind of entity. */
  entityId: text('incident_id').primaryKey(),
  version: integer('version').notNull(),
})
