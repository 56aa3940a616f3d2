import { ApiError, Environment, Rights } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { type Database, type LeasedRow, leasedWorker } from '@opsplane/postgres'
import type { ExecutionCaller } from '../execution/model.js'
import type { ExecutionReplays } from '../invoke/replays.js'
import { nextExecutions } from './retries.js'
import { dueExecutionRetries } from './tables.js'

interface RetryRow extends LeasedRow {
  workspace_id: string
  environment: string
  artifact_id: string
  cause: string
  position: string
  last_execution_id: string
  user_id: string
  caller: ExecutionCaller
  depth: number
  request_id: string
}

interface Step {
  retried: number
  refused: number
  last: string
  /** What the retry ends as. */
  ended: 'completed' | 'canceled' | null
}

export const executionRetryWorkName = 'execution retries'
/** Executions of a step, after which others have their turn. */
const stepSize = 20
const stepMs = 60_000
const columns = [
  ...['workspace_id', 'environment', 'artifact_id', 'cause', 'last_execution_id', 'user_id', 'caller'],
  ...['depth', 'request_id', 'position'],
]

/**
 * Works off retries of groups in steps. A step that is repeated after a crash finds replays of the executions it had been at, and
 * passes over those; what fails again has ended behind the position of the job. It is canceled once its requester may invoke
 * nothing any more.
 */
export function executionRetryWork(
  { sql }: Pick<Database, 'sql'>,
  { accept }: Pick<ExecutionReplays, 'accept'>,
  settings: Pick<ServiceClient, 'post'>,
) {
  const mayInvoke = async ({ workspace_id: workspaceId, user_id: userId }: RetryRow) => {
    const { permissions } = await settings.post(
      '/internal/rights',
      { workspaceId, userIds: [userId] },
      Rights,
    )
    return permissions[userId]?.includes('sdk:invoke') === true
  }

  async function step(row: RetryRow, signal: AbortSignal): Promise<Step> {
    const tenant = { workspaceId: row.workspace_id, environment: Environment.parse(row.environment) }
    const selection = { tenant, targetId: row.artifact_id, cause: row.cause, position: row.position }
    if (!(await mayInvoke(row)))
      return { retried: 0, refused: 0, last: row.last_execution_id, ended: 'canceled' }
    const ids = await nextExecutions(sql, selection, { after: row.last_execution_id, limit: stepSize })
    const made = { retried: 0, refused: 0, last: row.last_execution_id }
    const { user_id: userId, request_id: requestId, caller, depth, at: now } = row
    for (const id of ids) {
      signal.throwIfAborted()
      try {
        await accept(id, { tenant, userId, requestId, caller, depth, now })
        made.retried++
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) made.refused++
        else if (made.last === row.last_execution_id) throw error
        // What was retried counts, also where the retry is canceled meanwhile; the next step meets the failure again.
        else return { ...made, ended: null }
      }
      made.last = id
    }
    return { ...made, ended: ids.length < stepSize ? 'completed' : null }
  }

  return leasedWorker<RetryRow, Step>({
    name: executionRetryWorkName,
    of: dueExecutionRetries,
    columns,
    batch: 4,
    ofOne: 1,
    deadlineMs: stepMs,
    perform: async (rows, signal) => Promise.all(rows.map((row) => step(row, signal))),
    async done(tx, finished) {
      for (const { row, result } of finished)
        await tx.unsafe(
          `update execution_retries set retried = retried + $2::text::int, refused = refused + $3::text::int,
             last_execution_id = $4, due_at = now(),
             status = case when status = 'running' then coalesce($5::text, status) else status end,
             finished_at = case when status = 'running' and $5::text is not null then now() else finished_at end
           where id = $1`,
          [row.key, String(result.retried), String(result.refused), result.last, result.ended],
        )
    },
  })
}
