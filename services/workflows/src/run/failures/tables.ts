import { dueIndexes, dueTable, leaseColumns } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, integer, json, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** Retries that have a step to make. */
export const dueRunRetries = dueTable({
  table: 'run_retries',
  key: 'id',
  dueAt: 'due_at',
  waiting: "status = 'running'",
  fairKey: 'workspace_id',
})

/** Retries of groups of failed runs: what to retry, and how far each is. */
export const runRetries = pgTable(
  'run_retries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    workflowId: text('workflow_id').notNull(),
    cause: text('cause').notNull(),
    /** Runs that ended by then. */
    endedBy: instant('ended_by').notNull(),
    status: text('status').notNull().default('running'),
    total: integer('total').notNull(),
    retried: integer('retried').notNull().default(0),
    refused: integer('refused').notNull().default(0),
    /** The run that was looked at last; the job goes on behind it. */
    lastRunId: text('last_run_id').notNull().default(''),
    /** Who has asked for it. */
    actor: json('actor').notNull(),
    requestId: text('request_id').notNull(),
    dueAt: instant('due_at').notNull(),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
    ...leaseColumns(),
  },
  (table) => [
    uniqueIndex('run_retries_running_key').on(table.workflowId, table.cause).where(sql`status = 'running'`),
    index('run_retries_list_idx').on(table.workspaceId, table.environment, table.id),
    ...dueIndexes(dueRunRetries),
  ],
)
