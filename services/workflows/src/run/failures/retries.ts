import { type Actor, RunRetry } from '@opsplane/contracts'
import {
  type Database,
  type GroupRetryKind,
  type GroupRetryRow,
  groupRetryWork,
  isoText,
} from '@opsplane/postgres'
import type { RunActions } from '../actions.js'
import { buildFailureCause } from './groups.js'
import { dueRunRetries, runRetries } from './tables.js'

export const runRetryWorkName = 'run retries'

/** Runs that have been retried have another status and are no longer selected. */
export const runRetryKind: GroupRetryKind<RunRetry> = {
  table: runRetries,
  due: dueRunRetries,
  idKind: 'runRetry',
  job: RunRetry,
  targetField: 'workflowId',
  selected: `from runs r where r.workflow_id = $1 and r.workspace_id = $2 and r.environment = $3
    and r.status in ('failed', 'dead') and r.ended_at <= $4::text::timestamptz and ${buildFailureCause('r')} = $5`,
  itemId: 'r.id',
  position: { column: 'endedBy', text: isoText('ended_by') },
}

interface RetryRow extends GroupRetryRow {
  actor: Actor
}

export const runRetryWork = (database: Pick<Database, 'sql'>, { retry }: Pick<RunActions, 'retry'>) =>
  groupRetryWork<RetryRow>(database, runRetryKind, {
    name: runRetryWorkName,
    columns: ['actor'],
    retry(id, { actor, request_id: requestId, at: now }, tenant) {
      // Does not use the requester's rights, which may have changed since the request.
      const principal = { userId: actor.id, role: undefined, permissions: [] }
      return retry(
        id,
        { newKey: false },
        { tenant, actor, requestId, now, principal, clientToken: undefined },
      )
    },
  })
