import { readModelTable } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export const packs = readModelTable('packs', {}, (table) => [
  index('packs_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
])
