import type { FailureGroup, Page } from '@opsplane/contracts'
import { settledPosition } from '@opsplane/eventstore'
import { type Database, type FailuresOptions, failureGroups, readFailures } from '@opsplane/postgres'
import { deliveryPositions } from '../changes.js'
import { causeSql, currentFailureSql } from './current-failures.js'

/**
 * The latest failures of each webhook, found by index. Excludes deleted webhooks, whose
 * deliveries cannot be repaired.
 */
export const failedDeliveries = `
  select w.id as target_id, w.state->>'name' as target_name, failure.*,
    count(*) over (partition by w.id) >= ${readFailures} as is_more
  from webhooks w cross join lateral (
    select ${causeSql('d')} as cause, last_error_kind as code, last_error_message as message,
      coalesce(last_attempt_at, created_at) as at
    from deliveries d
    where d.webhook_id = w.id and ${currentFailureSql('d')} and coalesce(d.change_position, 0) <= $3::text::bigint
    order by d.id desc limit ${readFailures}) failure
  where w.workspace_id = $1 and w.environment = $2`

/** Current failures, grouped by webhook and cause. */
export async function deliveryFailures(
  { sql }: Pick<Database, 'sql'>,
  page: Pick<FailuresOptions, 'tenant' | 'limit' | 'after' | 'binding' | 'cursors'>,
): Promise<Page<FailureGroup>> {
  const position = await settledPosition(sql, deliveryPositions)
  return failureGroups(sql, {
    ...page,
    ...{ failed: failedDeliveries, parameters: [String(position)], target: 'webhook', position },
  })
}
