import { dueGroupRetries, groupRetryColumns, groupRetryIndexes } from '@opsplane/postgres'
import { bigint, json, pgTable, smallint, text } from 'drizzle-orm/pg-core'

export const dueExecutionRetries = dueGroupRetries('execution_retries')

/** Retries of groups of failed executions: also in whose name they are replayed. */
export const executionRetries = pgTable(
  'execution_retries',
  {
    ...groupRetryColumns({ target: 'artifact_id', last: 'last_execution_id' }),
    /** Executions whose end is no later in the order of changes. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** The requester, and what their credential allows: as the plan of an execution has it. */
    userId: text('user_id').notNull(),
    caller: json('caller').notNull(),
    depth: smallint('depth').notNull(),
  },
  (table) => groupRetryIndexes(dueExecutionRetries, table),
)
