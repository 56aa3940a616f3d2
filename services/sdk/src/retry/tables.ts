import { dueGroupRetries, groupRetryColumns, groupRetryIndexes } from '@opsplane/postgres'
import { bigint, json, pgTable, smallint, text } from 'drizzle-orm/pg-core'

export const dueExecutionRetries = dueGroupRetries('execution_retries')

/** Retries of groups of failed executions, including the person on whose behalf they are replayed. */
export const executionRetries = pgTable(
  'execution_retries',
  {
    ...groupRetryColumns({ target: 'artifact_id', last: 'last_execution_id' }),
    /** Includes executions that ended up to this position in the feed of changes. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** The requester and the permissions of their credential, as in the plan of an execution. */
    userId: text('user_id').notNull(),
    caller: json('caller').notNull(),
    depth: smallint('depth').notNull(),
  },
  (table) => groupRetryIndexes(dueExecutionRetries, table),
)
