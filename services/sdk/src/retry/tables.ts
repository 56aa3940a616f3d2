import { dueIndexes, dueTable, leaseColumns } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  json,
  pgTable,
  smallint,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** Retries that have a step to make. */
export const dueExecutionRetries = dueTable({
  table: 'execution_retries',
  key: 'id',
  dueAt: 'due_at',
  waiting: "status = 'running'",
  fairKey: 'workspace_id',
})

/** Retries of groups of failed executions: what to replay, in whose name, and how far each is. */
export const executionRetries = pgTable(
  'execution_retries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    artifactId: text('artifact_id').notNull(),
    cause: text('cause').notNull(),
    /** Executions whose end is no later in the order of changes. */
    position: bigint('position', { mode: 'number' }).notNull(),
    status: text('status').notNull().default('running'),
    total: integer('total').notNull(),
    retried: integer('retried').notNull().default(0),
    refused: integer('refused').notNull().default(0),
    /** The execution that was looked at last; the job goes on behind it. */
    lastExecutionId: text('last_execution_id').notNull().default(''),
    /** Who has asked for it, and what the credential allows that they asked with: as the plan of an execution has it. */
    userId: text('user_id').notNull(),
    caller: json('caller').notNull(),
    depth: smallint('depth').notNull(),
    requestId: text('request_id').notNull(),
    dueAt: instant('due_at').notNull(),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
    ...leaseColumns(),
  },
  (table) => [
    uniqueIndex('execution_retries_running_key')
      .on(table.artifactId, table.cause)
      .where(sql`status = 'running'`),
    index('execution_retries_list_idx').on(table.workspaceId, table.environment, table.id),
    ...dueIndexes(dueExecutionRetries),
  ],
)
