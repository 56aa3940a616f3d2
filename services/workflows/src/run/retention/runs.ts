import {
  type AgedTable,
  deleteAged,
  executionDays,
  type MonthRetentionOptions,
  startDaily,
} from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import {
  deleteRecentEvents,
  deleteSkippedTriggers,
  deleteTestedDrafts,
  deleteUnusedKeys,
} from './related-rows.js'

export type RetentionOptions = Omit<MonthRetentionOptions, 'of' | 'alsoOf'>

const dependentTables = ['run_entries', 'run_triggers', 'run_signals', 'run_event_waits', 'run_approvers']
const agedRuns: AgedTable = {
  ...{ table: 'runs', prefix: 'run_', endedAt: 'ended_at', dropMonth: 'drop_run_month' },
  dependentTables: dependentTables.map((table) => ({ table, column: 'run_id' })),
}

/** Deletes runs at the end of their workspace's retention: at start and daily. */
export function startRetention(
  { database: { sql }, log, clock }: ServiceContext,
  settings: Pick<ServiceClient, 'post'>,
): BackgroundWork {
  const daysOf = executionDays(settings)
  const nowMs = () => Date.parse(clock.now())
  return startDaily(log, 'old runs could not be deleted', (closing) =>
    deleteOldRuns({ sql, log, daysOf, nowMs }, closing),
  )
}

/** Deletes runs that ended longer ago than their workspace's retention, with all related rows. */
export async function deleteOldRuns(options: RetentionOptions, closing: AbortSignal): Promise<void> {
  const { sql, nowMs } = options
  await deleteAged(
    {
      ...options,
      of: agedRuns,
      alsoOf: (workspaceId, since) => deleteSkippedTriggers(sql, { workspaceId, since }, closing),
    },
    closing,
  )
  await deleteRecentEvents(sql, nowMs(), closing)
  await deleteUnusedKeys(sql, closing)
  await deleteTestedDrafts(sql, nowMs(), closing)
}
