import { readModelTable, searchColumn, searchIndex, stateInteger, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { customType, index, integer, uniqueIndex } from 'drizzle-orm/pg-core'

const jsonb = customType<{ data: string }>({ dataType: () => 'jsonb' })

export const catalogItems = readModelTable(
  'catalog_items',
  {
    status: stateText('status', 'status'),
    category: stateText('category', 'category'),
    name: stateText('name', 'name'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    tags: jsonb('tags').generatedAlwaysAs(sql.raw(`(state->'tags')::jsonb`)),
    search: searchColumn('search', { names: ['name'], labels: ['tags', 'category'], text: ['description'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('catalog_items_created_idx').on(workspaceId, environment, createdAt, id),
      index('catalog_items_name_idx').on(workspaceId, environment, table.name, id),
      index('catalog_items_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('catalog_items_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('catalog_items_category_idx').on(workspaceId, environment, table.category, createdAt, id),
      searchIndex('catalog_items_search_idx', workspaceId, table.search),
      index('catalog_items_tags_idx').using('gin', workspaceId, environment, table.tags),
    ]
  },
)

/** Every revision of an item that could be requested. Requests are pinned to one of them. */
export const catalogItemRevisions = readModelTable('catalog_item_revisions', {
  itemId: stateText('item_id', 'itemId'),
  revision: stateInteger('revision', 'revision'),
})

const persons = (column: string, of: string, path: string) =>
  jsonb(column).generatedAlwaysAs(sql.raw(`jsonb_path_query_array((state->'${of}')::jsonb, '${path}')`))

export const catalogRequests = readModelTable(
  'catalog_requests',
  {
    numberValue: integer('number_value').generatedAlwaysAs(
      sql.raw(`substring(state->>'number' from 5)::integer`),
    ),
    status: stateText('status', 'status'),
    itemId: stateText('item_id', 'itemId'),
    requesterId: stateText('requester_id', 'requesterId'),
    requestedFor: stateText('requested_for', 'requestedFor'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    /** Users named by any approval; `null` in the list stands for anyone who may approve. */
    approverIds: persons('approver_ids', 'approvals', '$[*].approverIds[*]'),
    /** Users named by pending approvals, and users who have already decided on them. */
    awaitedIds: persons('awaited_ids', 'approvals', '$[*] ? (@.status == "pending").approverIds[*]'),
    decidedIds: persons('decided_ids', 'approvals', '$[*] ? (@.status == "pending").decisions[*].userId'),
    /** Assignees of tasks that can be worked on. */
    assigneeIds: persons(
      'assignee_ids',
      'tasks',
      '$[*] ? (@.status == "open" || @.status == "in_progress").assigneeId',
    ),
    search: searchColumn('search', { names: ['number', 'itemName'], text: ['notes'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('catalog_requests_number_key').on(workspaceId, table.numberValue),
      index('catalog_requests_created_idx').on(workspaceId, environment, createdAt, id),
      index('catalog_requests_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('catalog_requests_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('catalog_requests_item_idx').on(workspaceId, environment, table.itemId, createdAt, id),
      index('catalog_requests_requester_idx').on(workspaceId, environment, table.requesterId, createdAt, id),
      index('catalog_requests_for_idx').on(workspaceId, environment, table.requestedFor, createdAt, id),
      searchIndex('catalog_requests_search_idx', workspaceId, table.search),
      index('catalog_requests_approver_idx').using('gin', workspaceId, environment, table.approverIds),
      index('catalog_requests_awaited_idx')
        .using('gin', workspaceId, environment, table.awaitedIds)
        .where(sql`status = 'awaiting_approval'`),
      index('catalog_requests_assignee_idx')
        .using('gin', workspaceId, environment, table.assigneeIds)
        .where(sql`status = 'fulfilling'`),
    ]
  },
)
