import { type AgedTable, deleteAged, executionDays, startDaily } from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'

export const agedExecutions: AgedTable = {
  ...{ table: 'executions', prefix: 'exec_', endedAt: 'completed_at', dropMonth: 'drop_execution_month' },
  dependentTables: ['execution_records', 'execution_keys', 'execution_results'].map((table) => ({
    ...{ table, column: 'execution_id' },
  })),
}

/** The lifetime of an idempotency key. */
export const keyMs = 24 * 3_600_000

/**
 * Deletes results that can no longer be requested by a key. Whole days are deleted, so results may live up to a day
 * longer.
 */
export const deleteResults = (sql: Database['sql'], nowMs: number) =>
  sql.unsafe(
    `delete from execution_results
     where execution_id < 'exec_' || ulid_start(($1::text::timestamptz at time zone 'UTC')::date)`,
    [new Date(nowMs - keyMs).toISOString()],
    { prepare: true },
  )

/** Deletes executions at the end of their workspace's retention, and expired sealed results: at start and daily. */
export function startRetention(
  { database: { sql }, log, clock }: ServiceContext,
  settings: Pick<ServiceClient, 'post'>,
): BackgroundWork {
  const daysOf = executionDays(settings)
  const nowMs = () => Date.parse(clock.now())
  return startDaily(log, 'old executions could not be deleted', async (closing) => {
    await deleteResults(sql, nowMs())
    await deleteAged({ sql, log, of: agedExecutions, daysOf, nowMs }, closing)
  })
}
