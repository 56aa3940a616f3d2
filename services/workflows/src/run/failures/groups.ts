import type { FailureGroup, Page } from '@opsplane/contracts'
import {
  type Database,
  type FailuresOptions,
  failureGroups,
  isoText,
  readFailures,
  withoutDetails,
} from '@opsplane/postgres'

/** Statuses from which people can retry, except `cancelled`. */
const failedStatuses = `(values ('failed'), ('dead')) as failed (status)`

/**
 * The key that groups failures of a workflow: the step, the code, and the message without parts that vary
 * between runs.
 */
export const buildFailureCause = (table: string) =>
  `md5(concat_ws('|', ${table}.error->>'code', ${table}.error->>'step', ${withoutDetails(`${table}.error->>'message'`)}))`

/** The latest runs of each workflow and status, using their index. Runs that were retried have another status. */
export const failedRuns = `
  select w.id as target_id, w.name as target_name, failure.*,
    count(*) over (partition by w.id, failed.status) >= ${readFailures} as is_more
  from workflows w cross join ${failedStatuses} cross join lateral (
    select ${buildFailureCause('r')} as cause, r.error->>'code' as code, r.error->>'message' as message,
      ${isoText('r.ended_at')} as at
    from runs r
    where r.workflow_id = w.id and r.status = failed.status and r.ended_at <= $3::text::timestamptz
    order by r.id desc limit ${readFailures}) failure
  where w.workspace_id = $1 and w.environment = $2`

/** Current failures, grouped by workflow and cause. */
export function runFailures(
  sql: Database['sql'],
  page: Pick<FailuresOptions, 'tenant' | 'limit' | 'after' | 'binding' | 'cursors'>,
): Promise<Page<FailureGroup>> {
  return failureGroups(sql, { ...page, failed: failedRuns, parameters: ['infinity'], target: 'workflow' })
}
