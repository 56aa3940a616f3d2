import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export * from './run/tables.js'

export const workflows = readModelTable('workflows', {}, (table) => [
  index('workflows_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
