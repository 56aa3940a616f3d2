import { type AgedTable, deleteAged, executionDays, startDaily } from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'

export const agedExecutions: AgedTable = {
  ...{ table: 'executions', prefix: 'exec_', endedAt: 'completed_at', dropMonth: 'drop_execution_month' },
  beside: ['execution_records', 'execution_keys'].map((table) => ({ table, column: 'execution_id' })),
}

/** Deletes executions once they are as old as their workspace says: now and every day. */
export function startRetention(
  { database: { sql }, log, clock }: ServiceContext,
  settings: Pick<ServiceClient, 'post'>,
): BackgroundWork {
  const daysOf = executionDays(settings)
  const nowMs = () => Date.parse(clock.now())
  return startDaily(log, 'old executions could not be deleted', (closing) =>
    deleteAged({ sql, log, of: agedExecutions, daysOf, nowMs }, closing),
  )
}
