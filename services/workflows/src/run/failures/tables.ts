import { dueGroupRetries, groupRetryColumns, groupRetryIndexes } from '@opsplane/postgres'
import { json, pgTable, timestamp } from 'drizzle-orm/pg-core'

export const dueRunRetries = dueGroupRetries('run_retries')

/** Retries of groups of failed runs. */
export const runRetries = pgTable(
  'run_retries',
  {
    ...groupRetryColumns({ target: 'workflow_id', last: 'last_run_id' }),
    /** Includes runs that ended up to this instant. */
    endedBy: timestamp('ended_by', { withTimezone: true, precision: 3, mode: 'string' }).notNull(),
    /** The requester. */
    actor: json('actor').notNull(),
  },
  (table) => groupRetryIndexes(dueRunRetries, table),
)
