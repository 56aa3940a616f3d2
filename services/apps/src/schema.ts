import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export const apps = readModelTable('apps', {}, (table) => [
  index('apps_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
