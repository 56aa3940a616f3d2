import { readModelTable, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { isNotNull, isNull, sql } from 'drizzle-orm'
import { index, integer, uniqueIndex } from 'drizzle-orm/pg-core'
import { incidentItem, openIncidents } from './cmdb/tables.js'

export {
  consumerCheckpoints,
  deadLetters,
  eventsForLists as events,
  idempotencyKeys,
  numberCounters,
} from '@opsplane/eventstore'
export { ciClasses, ciRelations, configurationItems } from './cmdb/tables.js'

/** Every index of a list starts with the tenant and ends with what the list is sorted by. */
export const incidents = readModelTable(
  'incidents',
  {
    /** The digits of `INC-12`: sorts by value and finds an incident by its number. */
    numberValue: integer('number_value').generatedAlwaysAs(
      sql.raw(`substring(state->>'number' from 5)::integer`),
    ),
    status: stateText('status', 'status'),
    severity: stateText('severity', 'severity'),
    assigneeId: stateText('assignee_id', 'assigneeId'),
    assignmentGroup: stateText('assignment_group', 'assignmentGroup'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', {
      names: ['number', 'title'],
      labels: ['tags'],
      text: ['description'],
    }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('incidents_number_key').on(workspaceId, table.numberValue),
      index('incidents_created_idx').on(workspaceId, environment, createdAt, id),
      index('incidents_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('incidents_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('incidents_severity_idx').on(workspaceId, environment, table.severity, createdAt, id),
      searchIndex('incidents_search_idx', workspaceId, table.search),
      index('incidents_assignee_idx')
        .on(workspaceId, environment, table.assigneeId, createdAt, id)
        .where(isNotNull(table.assigneeId)),
      index('incidents_group_idx')
        .on(workspaceId, environment, table.assignmentGroup, createdAt, id)
        .where(isNotNull(table.assignmentGroup)),
      // Those of nobody: an index with nulls in it would not count as sorted for them.
      index('incidents_unassigned_idx')
        .on(workspaceId, environment, createdAt, id)
        .where(isNull(table.assigneeId)),
      index('incidents_unrouted_idx')
        .on(workspaceId, environment, createdAt, id)
        .where(isNull(table.assignmentGroup)),
      index('incidents_ci_idx').on(workspaceId, environment, sql`${incidentItem}`).where(openIncidents),
    ]
  },
)

export const incidentComments = readModelTable(
  'incident_comments',
  { incidentId: stateText('incident_id', 'incidentId'), visibility: stateText('visibility', 'visibility') },
  (table) => [
    index('incident_comments_incident_idx').on(
      table.workspaceId,
      table.environment,
      table.incidentId,
      table.createdAt,
      table.id,
    ),
  ],
)

export * from './knowledge/tables.js'
export * from './sla/tables.js'
