import { readModelTable, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { isNotNull, sql } from 'drizzle-orm'
import { boolean, customType, index, integer, uniqueIndex } from 'drizzle-orm/pg-core'

const jsonb = customType<{ data: string }>({ dataType: () => 'jsonb' })
const stateList = (column: string, field: string) =>
  jsonb(column).generatedAlwaysAs(sql.raw(`(state->'${field}')::jsonb`))

/** Every list index starts with the tenant and ends with the sort key of the list. */
export const problems = readModelTable(
  'problems',
  {
    /** The number in `PRB-12`. Sorts numerically and finds a problem by its number. */
    numberValue: integer('number_value').generatedAlwaysAs(
      sql.raw(`substring(state->>'number' from 5)::integer`),
    ),
    status: stateText('status', 'status'),
    priority: stateText('priority', 'priority'),
    assigneeId: stateText('assignee_id', 'assigneeId'),
    assignmentGroup: stateText('assignment_group', 'assignmentGroup'),
    knownError: boolean('known_error').generatedAlwaysAs(sql.raw(`(state->>'knownError')::boolean`)),
    ciIds: stateList('ci_ids', 'ciIds'),
    changeIds: stateList('change_ids', 'changeIds'),
    tags: stateList('tags', 'tags'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', {
      names: ['number', 'title'],
      labels: ['tags', 'category'],
      text: ['description'],
    }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('problems_number_key').on(workspaceId, table.numberValue),
      index('problems_created_idx').on(workspaceId, environment, createdAt, id),
      index('problems_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('problems_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('problems_priority_idx').on(workspaceId, environment, table.priority, createdAt, id),
      searchIndex('problems_search_idx', workspaceId, table.search),
      index('problems_assignee_idx')
        .on(workspaceId, environment, table.assigneeId, createdAt, id)
        .where(isNotNull(table.assigneeId)),
      index('problems_group_idx')
        .on(workspaceId, environment, table.assignmentGroup, createdAt, id)
        .where(isNotNull(table.assignmentGroup)),
      index('problems_known_error_idx')
        .on(workspaceId, environment, createdAt, id)
        .where(sql.raw('known_error')),
      // An item or a tag matches few rows, which are sorted afterwards (btree_gin).
      index('problems_ci_idx').using('gin', workspaceId, environment, table.ciIds),
      index('problems_change_idx').using('gin', workspaceId, environment, table.changeIds),
      index('problems_tag_idx').using('gin', workspaceId, environment, table.tags),
    ]
  },
)
