import { ExecutionRetry, Rights } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { type Database, type GroupRetryKind, type GroupRetryRow, groupRetryWork } from '@opsplane/postgres'
import { causeSql, currentFailureSql } from '../execution/failures.js'
import type { ExecutionCaller } from '../execution/model.js'
import type { ExecutionReplays } from '../invoke/replays.js'
import { dueExecutionRetries, executionRetries } from './tables.js'

export const executionRetryWorkName = 'execution retries'

/** Executions that have been replayed are no longer selected. */
export const executionRetryKind: GroupRetryKind<ExecutionRetry> = {
  table: executionRetries,
  due: dueExecutionRetries,
  idKind: 'executionRetry',
  job: ExecutionRetry,
  targetField: 'artifactId',
  selected: `from executions e where e.artifact_id = $1 and e.workspace_id = $2 and e.environment = $3
    and coalesce(e.change_position, 0) <= $4::text::bigint and ${currentFailureSql} and ${causeSql} = $5`,
  itemId: 'e.id',
  position: { column: 'position', text: 'position' },
}

interface RetryRow extends GroupRetryRow {
  user_id: string
  caller: ExecutionCaller
  depth: number
}

/** Cancels a retry once its requester loses the right to invoke artifacts. */
export const executionRetryWork = (
  database: Pick<Database, 'sql'>,
  { accept }: Pick<ExecutionReplays, 'accept'>,
  settings: Pick<ServiceClient, 'post'>,
) =>
  groupRetryWork<RetryRow>(database, executionRetryKind, {
    name: executionRetryWorkName,
    columns: ['user_id', 'caller', 'depth'],
    retry: (id, { user_id: userId, request_id: requestId, caller, depth, at: now }, tenant) =>
      accept(id, { tenant, userId, requestId, caller, depth, now }),
    async isAllowed({ workspace_id: workspaceId, user_id: userId }) {
      const asked = { workspaceId, userIds: [userId] }
      const { permissions } = await settings.post('/internal/rights', asked, Rights)
      return permissions[userId]?.includes('sdk:invoke') === true
    },
  })
