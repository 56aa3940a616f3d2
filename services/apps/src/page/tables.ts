import { readModelTable, stateInteger, stateText } from '@opsplane/postgres'
import { index, uniqueIndex } from 'drizzle-orm/pg-core'

export const appPages = readModelTable(
  'app_pages',
  {
    appId: stateText('app_id', 'appId'),
    slug: stateText('slug', 'slug'),
    position: stateInteger('position', 'position'),
  },
  (table) => {
    const { workspaceId, environment, appId } = table
    return [
      index('app_pages_position_idx').on(workspaceId, environment, appId, table.position, table.id),
      uniqueIndex('app_pages_slug_key').on(workspaceId, environment, appId, table.slug),
    ]
  },
)
