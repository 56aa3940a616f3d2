import {
  dueIndexes,
  dueTable,
  readModelTable,
  retryColumns,
  stateInteger,
  stateText,
} from '@opsplane/postgres'
import { index, json, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

export const savedQueries = readModelTable('saved_queries', { name: stateText('name', 'name') }, (table) => [
  index('saved_queries_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  index('saved_queries_name_idx').on(table.workspaceId, table.environment, table.name, table.id),
])

export const migrations = readModelTable(
  'migrations',
  { number: stateInteger('number', 'number'), status: stateText('status', 'status') },
  (table) => [
    uniqueIndex('migrations_number_key').on(table.workspaceId, table.environment, table.number),
    index('migrations_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
  ],
)

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' })

/** Runs whose outcome has to be recorded, or that were interrupted. */
export const dueRuns = dueTable({
  table: 'migration_runs',
  key: 'space_id',
  dueAt: 'due_at',
  waiting: 'true',
})

/** The migration that runs in a space; at most one until its outcome is in the log. */
export const migrationRuns = pgTable(
  'migration_runs',
  {
    spaceId: text('space_id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    migrationId: text('migration_id').notNull(),
    /** `up`, `down`, or `dry` for a run that is rolled back. */
    direction: text('direction').notNull(),
    /** SHA-256, in hex, of the secret that authenticates its session. */
    tokenHash: text('token_hash').notNull(),
    /** The principal that requested it. */
    acting: json('acting').notNull(),
    /** Written by the transaction of the migration itself. */
    doneAt: instant('done_at'),
    /** When the run is over for certain, even if its service crashed. */
    dueAt: instant('due_at').notNull(),
    ...retryColumns(),
  },
  () => dueIndexes(dueRuns),
)
