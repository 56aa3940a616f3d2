import { readModelTable, stateText } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export const embedTokens = readModelTable(
  'embed_tokens',
  { appId: stateText('app_id', 'appId'), expiresAt: stateText('expires_at', 'expiresAt') },
  (table) => [
    index('embed_tokens_created_idx').on(
      table.workspaceId,
      table.environment,
      table.appId,
      table.createdAt,
      table.id,
    ),
  ],
)
