import { ApiError } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Retry } from '../engine/history.js'
import type { Program } from '../engine/program.js'
import type { Task } from '../engine/task.js'
import { foldRun } from './folded-run.js'
import { loadJournals, parseOrigin } from './load-journals.js'
import type { RunIdentity } from './model.js'
import { findRun } from './queries.js'
import { type SignalEnvelope, type SignalResult, wrapOwnSignal } from './signal-envelope.js'
import { runStatement } from './store/store.js'

type Continuation = NonNullable<Extract<Task, { kind: 'start_run' }>['goesOn']>

/**
 * Retries the run that a step of an earlier attempt waited for, unless it is still in progress or has completed.
 * Idempotent. Throws `version_conflict` while a cancellation from that earlier attempt is pending in the run's inbox.
 */
export async function continueChild(
  {
    sql,
    present,
  }: {
    sql: Database['sql']
    present(runId: string, envelope: SignalEnvelope, force: boolean): Promise<SignalResult>
  },
  { tenant }: Pick<RunIdentity, 'tenant'>,
  { runId, ...how }: Continuation,
): Promise<{ runId: string }> {
  const { shown } = await findRun(sql, runId, tenant)
  if (!shown.allowedActions.includes('retry')) {
    const cancels = await runStatement(
      sql,
      `select 1 from run_signals s join runs r on r.id = s.run_id and r.ended_at is null
       where s.run_id = $1 and s.outcome is null and s.signal->>'kind' = 'cancel'`,
      [runId],
    )
    if (cancels.length > 0) throw changing(runId)
    return { runId }
  }
  const signal = { kind: 'retry', by: 'system', from: null, ...how } as const
  if ((await present(runId, wrapOwnSignal(signal), false)) === 'gone') throw changing(runId)
  return { runId }
}

const changing = (runId: string) =>
  new ApiError('version_conflict', `Run ${runId} is changing. It is continued after that.`)

/**
 * Returns a run with all runs that its steps would continue if it were retried now, recursively, with the version each
 * is pinned to.
 */
export async function findContinuedRuns(
  parts: { sql: Database['sql']; programOf(identity: RunIdentity): Promise<Program> },
  identity: RunIdentity,
  how: Retry,
): Promise<{ id: string; programRef: string }[]> {
  const { sql, programOf } = parts
  const { id, tenant } = identity
  const program = await programOf(identity)
  const found = [{ id, programRef: (await parseOrigin(sql, id)).programRef }]
  if ([...program.nodes.values()].every(({ step }) => step.type !== 'workflow')) return found
  const journal = (await loadJournals(sql, [id])).get(id)
  if (!journal) throw new Error(`${id} has no journal`)
  const foldedRun = foldRun({ program, identity, ...journal })
  const at = journal.recorded.at(-1)?.at ?? 0
  foldedRun.decide({ kind: 'retry', ...how }, at)
  foldedRun.decide({ kind: 'start' }, at)
  for (const task of foldedRun.tasks()) {
    if (task.kind !== 'start_run' || !task.goesOn) continue
    const child = await findRun(sql, task.goesOn.runId, tenant)
    if (child.shown.status !== 'completed')
      found.push(...(await findContinuedRuns(parts, child.identity, { by: 'system', from: null })))
  }
  return found
}
