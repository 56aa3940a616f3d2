import type { FailureGroup, Page } from '@opsplane/contracts'
import { settledPosition } from '@opsplane/eventstore'
import {
  type Database,
  type FailuresOptions,
  failureGroups,
  isoText,
  readFailures,
  withoutDetails,
} from '@opsplane/postgres'
import { executionPositions } from './changes.js'

/**
 * True for a failed execution that is the latest of itself and its replays, none of which has completed or
 * is running.
 */
export const currentFailureSql = `e.status in ('failed', 'timeout')
  and not exists (select from executions replay where replay.replay_of = e.id and replay.status <> 'cancelled')
  and (e.replay_of is null or not exists (select from executions other
    where other.replay_of = e.replay_of and other.id <> e.id
      and (other.status in ('completed', 'running') or other.status <> 'cancelled' and other.id > e.id)))`

/** Distinguishes the failures of one artifact. */
export const causeSql = `md5(concat_ws('|', e.status, e.error->>'code', ${withoutDetails(`e.error->>'message'`)}))`

/** The latest failures of each artifact, using its index. */
export const failedExecutions = `
  select a.id as target_id, a.name as target_name, failure.*,
    count(*) over (partition by a.id) >= ${readFailures} as is_more
  from artifacts a cross join lateral (
    select ${causeSql} as cause,
      coalesce(e.error->>'code', e.status) as code, e.error->>'message' as message,
      ${isoText('e.completed_at')} as at
    from executions e
    where e.artifact_id = a.id and ${currentFailureSql} and coalesce(e.change_position, 0) <= $3::text::bigint
    order by e.id desc limit ${readFailures}) failure
  where a.workspace_id = $1 and a.environment = $2`

/** Current failures, grouped by artifact and cause. */
export async function executionFailures(
  sql: Database['sql'],
  page: Pick<FailuresOptions, 'tenant' | 'limit' | 'after' | 'binding' | 'cursors'>,
): Promise<Page<FailureGroup>> {
  const position = await settledPosition(sql, executionPositions)
  return failureGroups(sql, {
    ...page,
    ...{ failed: failedExecutions, parameters: [String(position)], target: 'artifact', position },
  })
}
