import { ApiError } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Task } from '../engine/task.js'
import type { RunIdentity } from './model.js'
import { own, type Presented, type Reception } from './presented.js'
import { findRun } from './queries.js'
import { run } from './store/store.js'

type GoesOn = NonNullable<Extract<Task, { kind: 'start_run' }>['goesOn']>

/**
 * Retries the run that a step of an earlier attempt has waited for, unless it goes on by itself or has completed. Repeated, it
 * changes nothing. Throws `version_conflict` while the run has a cancellation of that earlier attempt before it.
 */
export async function goOnWithChild(
  {
    sql,
    present,
  }: {
    sql: Database['sql']
    present(runId: string, presented: Presented, force: boolean): Promise<Reception>
  },
  { tenant }: Pick<RunIdentity, 'tenant'>,
  { runId, ...how }: GoesOn,
): Promise<{ runId: string }> {
  const { shown } = await findRun(sql, runId, tenant)
  if (!shown.allowedActions.includes('retry')) {
    const cancels = await run(
      sql,
      `select 1 from run_signals s join runs r on r.id = s.run_id and r.ended_at is null
       where s.run_id = $1 and s.outcome is null and s.signal->>'kind' = 'cancel'`,
      [runId],
    )
    if (cancels.length > 0) throw changing(runId)
    return { runId }
  }
  const signal = { kind: 'retry', by: 'system', from: null, ...how } as const
  if ((await present(runId, own(signal), false)) === 'gone') throw changing(runId)
  return { runId }
}

const changing = (runId: string) =>
  new ApiError('version_conflict', `Run ${runId} is changing; it is gone on with after that.`)
