import { dueIndexes, dueTable, retryColumns } from '@opsplane/postgres'
import { pgTable, text, timestamp } from 'drizzle-orm/pg-core'

export const duePurges = dueTable({
  table: 'table_purges',
  key: 'table_id',
  dueAt: 'due_at',
  waiting: 'true',
})

/** Tables in the trash and when to drop them. */
export const tablePurges = pgTable(
  'table_purges',
  {
    tableId: text('table_id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...retryColumns(),
  },
  () => dueIndexes(duePurges),
)
