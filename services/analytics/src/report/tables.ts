import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export const reports = readModelTable('reports', {}, (table) => [
  index('reports_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
