import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

export const apps = readModelTable(
  'apps',
  { slug: stateText('slug', 'slug'), name: stateText('name', 'name'), status: stateText('status', 'status') },
  (table) => [
    index('apps_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
    index('apps_name_idx').on(table.workspaceId, table.environment, table.name, table.id),
    uniqueIndex('apps_slug_key')
      .on(table.workspaceId, table.environment, table.slug)
      .where(sql`status = 'active'`),
  ],
)
