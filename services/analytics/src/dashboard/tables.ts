import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export const dashboards = readModelTable('dashboards', {}, (table) => [
  index('dashboards_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
