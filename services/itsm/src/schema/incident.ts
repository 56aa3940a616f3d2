import { readModelTable, retryColumns, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { isNotNull, isNull, sql } from 'drizzle-orm'
import type { ExtraConfigColumn } from 'drizzle-orm/pg-core'
import { index, integer, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { openIncidents } from './cmdb.js'
import {
  acceptsAlertsCondition,
  autoClosableCondition,
  dedupKeyIndex,
  isMajorCondition,
  resolvedSince,
  urgency,
  urgencyRanks,
} from './incident-indexes.js'

/** Column of a field that is missing in states from before it was introduced. */
const sinceLater = <Name extends string>(column: Name, field: string, value: string) =>
  text(column).generatedAlwaysAs(sql.raw(`coalesce(state->>'${field}', '${value}')`))

/**
 * Column of a list in the state; null if the list is empty, so
 * that a partial index skips such rows without parsing the state.
 */
const members = <Name extends string>(column: Name, field: 'watcherIds' | 'tags') =>
  jsonb(column).generatedAlwaysAs(sql.raw(`nullif((state->'${field}')::jsonb, '[]')`))

/** Every list index starts with the tenant and ends with the sort key of the list. */
export const incidents = readModelTable(
  'incidents',
  {
    /** The number in `INC-12`. Sorts numerically and finds an incident by its number. */
    numberValue: integer('number_value').generatedAlwaysAs(
      sql.raw(`substring(state->>'number' from 5)::integer`),
    ),
    status: stateText('status', 'status'),
    severity: stateText('severity', 'severity'),
    assigneeId: stateText('assignee_id', 'assigneeId'),
    assignmentGroup: stateText('assignment_group', 'assignmentGroup'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    priority: sinceLater('priority', 'priority', 'P3'),
    impact: sinceLater('impact', 'impact', 'medium'),
    urgency: sinceLater('urgency', 'urgency', 'medium'),
    parentId: stateText('parent_id', 'parentId'),
    problemId: stateText('problem_id', 'problemId'),
    changeId: stateText('change_id', 'changeId'),
    majorState: sinceLater('major_state', 'majorState', 'none'),
    resolutionCode: stateText('resolution_code', 'resolutionCode'),
    dedupKey: stateText('dedup_key', 'dedupKey'),
    ciId: stateText('ci_id', 'ciId'),
    callerId: stateText('caller_id', 'callerId'),
    category: stateText('category', 'category'),
    channel: stateText('channel', 'channel'),
    byPriority: text('by_priority').generatedAlwaysAs(urgency(urgencyRanks.priority)),
    bySeverity: text('by_severity').generatedAlwaysAs(urgency(urgencyRanks.severity)),
    search: searchColumn('search', {
      names: ['number', 'title'],
      labels: ['tags'],
      text: ['description'],
    }),
    ...retryColumns(),
    watcherIds: members('watcher_ids', 'watcherIds'),
    tags: members('tags', 'tags'),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    const listBy = (name: string, column: ExtraConfigColumn) =>
      index(`incidents_${name}_idx`).on(workspaceId, environment, column, createdAt, id)
    const listOfSet = (name: string, column: ExtraConfigColumn) =>
      listBy(name, column).where(isNotNull(column))
    /**
     * Indexes of a queue sorted by urgency. They start with the status,
     * because nearly all of the oldest incidents of a rank have ended.
     */
    const queueBy = (name: string, column: ExtraConfigColumn) => [
      index(`incidents_status_${name}_idx`).on(workspaceId, environment, table.status, column, id),
      index(`incidents_assignee_${name}_idx`)
        .on(workspaceId, environment, table.assigneeId, table.status, column, id)
        .where(isNotNull(table.assigneeId)),
      index(`incidents_group_${name}_idx`)
        .on(workspaceId, environment, table.assignmentGroup, table.status, column, id)
        .where(isNotNull(table.assignmentGroup)),
    ]
    const withMember = (name: string, column: ExtraConfigColumn) =>
      index(`incidents_${name}_idx`)
        .using('gin', workspaceId, environment, sql`${column} jsonb_path_ops`)
        .where(isNotNull(column))
        .with({ fastupdate: false })
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
      index('incidents_auto_close_idx')
        .on(workspaceId, environment, sql`${resolvedSince}`, id)
        .where(autoClosableCondition),
      // For unassigned incidents: Postgres would not use an index on a nullable column as sorted for nulls.
      index('incidents_unassigned_idx')
        .on(workspaceId, environment, createdAt, id)
        .where(isNull(table.assigneeId)),
      index('incidents_unrouted_idx')
        .on(workspaceId, environment, createdAt, id)
        .where(isNull(table.assignmentGroup)),
      index('incidents_open_item_idx').on(workspaceId, environment, table.ciId).where(openIncidents),
      listBy('priority', table.priority),
      listBy('impact', table.impact),
      listBy('urgency', table.urgency),
      listOfSet('parent', table.parentId),
      listOfSet('problem', table.problemId),
      listOfSet('change', table.changeId),
      listOfSet('resolution', table.resolutionCode),
      listOfSet('alert', table.dedupKey),
      listOfSet('item', table.ciId),
      listOfSet('caller', table.callerId),
      listOfSet('category', table.category),
      listOfSet('channel', table.channel),
      ...queueBy('priority', table.byPriority),
      ...queueBy('severity', table.bySeverity),
      listBy('major', table.majorState).where(isMajorCondition),
      uniqueIndex(dedupKeyIndex).on(workspaceId, environment, table.dedupKey).where(acceptsAlertsCondition),
      // Within the tenant (btree_gin). The results have to be sorted afterwards.
      withMember('watched', table.watcherIds),
      withMember('tagged', table.tags),
    ]
  },
)

export const incidentComments = readModelTable(
  'incident_comments',
  {
    incidentId: stateText('incident_id', 'incidentId'),
    visibility: stateText('visibility', 'visibility'),
    // Searched only within one incident, so it needs no index.
    search: searchColumn('search', { names: ['body'] }),
  },
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
