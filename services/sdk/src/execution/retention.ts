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

/** As long as any Idempotency-Key. */
export const keyMs = 24 * 3_600_000

/** Results that no key can ask for any more, but for those of the day it ended on. */
export const deleteResults = (sql: Database['sql'], nowMs: number) =>
  sql.unsafe(
    `delete from execution_results
     where execution_id < 'exec_' || ulid_start(($1::text::timestamptz at time zone 'UTC')::date)`,
    [new Date(nowMs - keyMs).toISOString()],
    { prepare: true },
  )

/** Deletes executions once they are as old as their workspace says, and true results of earlier days: now and every day. */
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
