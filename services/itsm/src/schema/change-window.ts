import { readModelTable, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

/** The migration also creates a GiST index on the span from the first start to the last end. See ADR 029. */
export const changeWindows = readModelTable(
  'change_windows',
  {
    kind: stateText('kind', 'kind'),
    status: stateText('status', 'status'),
    startsAt: stateText('starts_at', 'startsAt'),
    endsAt: stateText('ends_at', 'endsAt'),
    name: stateText('name', 'name'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    search: searchColumn('search', { names: ['name'], text: ['reason'] }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('change_windows_created_idx').on(workspaceId, environment, createdAt, id),
      index('change_windows_kind_idx').on(workspaceId, environment, table.kind, createdAt, id),
      index('change_windows_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('change_windows_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('change_windows_name_idx').on(workspaceId, environment, table.name, id),
      searchIndex('change_windows_search_idx', workspaceId, table.search),
    ]
  },
)
