import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

/** Table definitions, including those in the trash. */
export const tables = readModelTable(
  'tables',
  {
    slug: stateText('slug', 'slug'),
    name: stateText('name', 'name'),
    purgeAt: stateText('purge_at', 'purgeAt'),
  },
  (table) => [
    uniqueIndex('tables_slug_key')
      .on(table.workspaceId, table.environment, table.slug)
      .where(sql`purge_at is null`),
    index('tables_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)
