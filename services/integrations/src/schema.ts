import { readModelTable, stateText } from '@opsplane/postgres'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

export const connectors = readModelTable(
  'connectors',
  { name: stateText('name', 'name'), kind: stateText('kind', 'kind'), status: stateText('status', 'status') },
  (table) => [
    uniqueIndex('connectors_name_key').on(table.workspaceId, table.environment, table.name),
    index('connectors_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)
