import { type Actor, ApiError, Environment } from '@opsplane/contracts'
import { type Database, isoText, type LeasedRow, leasedWorker } from '@opsplane/postgres'
import type { RunActions } from '../actions.js'
import { nextRuns } from './retries.js'
import { dueRunRetries } from './tables.js'

interface RetryRow extends LeasedRow {
  workspace_id: string
  environment: string
  workflow_id: string
  cause: string
  ended_by: string
  last_run_id: string
  actor: Actor
  request_id: string
}

interface Step {
  retried: number
  refused: number
  last: string
  isLast: boolean
}

export const retryingRuns = 'run retries'
/** Runs of a step, after which others have their turn. */
const stepSize = 20
const stepMs = 60_000
const columns = [
  ...['workspace_id', 'environment', 'workflow_id', 'cause', 'last_run_id', 'actor', 'request_id'],
  `${isoText('ended_by')} as ended_by`,
]

/**
 * Works off retries of groups in steps. A step that is repeated after a crash finds the runs it had retried in another status, and
 * passes over them.
 */
export function runRetryWork({ sql }: Pick<Database, 'sql'>, { retry }: Pick<RunActions, 'retry'>) {
  async function step(row: RetryRow, signal: AbortSignal): Promise<Step> {
    const tenant = { workspaceId: row.workspace_id, environment: Environment.parse(row.environment) }
    const selection = { tenant, targetId: row.workflow_id, cause: row.cause, endedBy: row.ended_by }
    const ids = await nextRuns(sql, selection, { after: row.last_run_id, limit: stepSize })
    const made = { retried: 0, refused: 0, last: row.last_run_id }
    for (const id of ids) {
      signal.throwIfAborted()
      // The requester's rights are not used: they may have changed since.
      const principal = { userId: row.actor.id, role: undefined, permissions: [] }
      const caller = { tenant, actor: row.actor, requestId: row.request_id, now: row.at, principal }
      try {
        await retry(id, { newKey: false }, { ...caller, clientToken: undefined })
        made.retried++
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) made.refused++
        else if (made.last === row.last_run_id) throw error
        // What was retried counts, also where the retry is canceled meanwhile; the next step meets the failure again.
        else return { ...made, isLast: false }
      }
      made.last = id
    }
    return { ...made, isLast: ids.length < stepSize }
  }

  return leasedWorker<RetryRow, Step>({
    name: retryingRuns,
    of: dueRunRetries,
    columns,
    batch: 4,
    ofOne: 1,
    deadlineMs: stepMs,
    perform: async (rows, signal) => Promise.all(rows.map((row) => step(row, signal))),
    async done(tx, finished) {
      for (const { row, result } of finished)
        await tx.unsafe(
          `update run_retries set retried = retried + $2::text::int, refused = refused + $3::text::int, last_run_id = $4,
             due_at = now(),
             status = case when status = 'running' and $5::text::boolean then 'completed' else status end,
             finished_at = case when status = 'running' and $5::text::boolean then now() else finished_at end
           where id = $1`,
          [row.key, String(result.retried), String(result.refused), result.last, String(result.isLast)],
        )
    },
  })
}
