import { readModelTable, stateText } from '@opsplane/postgres'
import { uniqueIndex } from 'drizzle-orm/pg-core'

export const dataSources = readModelTable(
  'data_sources',
  { appId: stateText('app_id', 'appId'), name: stateText('name', 'name') },
  (table) => [
    uniqueIndex('data_sources_name_key').on(table.workspaceId, table.environment, table.appId, table.name),
  ],
)
