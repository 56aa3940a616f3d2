import { readModelTable, stateText } from '@opsplane/postgres'
import { index } from 'drizzle-orm/pg-core'

export { scheduleFires, schedules } from '@opsplane/postgres'

export const jobs = readModelTable(
  'jobs',
  { artifact: stateText('artifact', 'artifact'), ownerId: stateText('owner_id', 'ownerId') },
  (table) => [
    index('jobs_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
    index('jobs_artifact_idx').on(table.workspaceId, table.environment, table.artifact),
    index('jobs_owner_idx').on(table.workspaceId, table.ownerId),
  ],
)
