import { type Actor, stringifyExact } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import type { Signal } from '../engine/signal.js'
import type { AwaitTask, TransitionEffects } from './active-run.js'
import { admitNextRuns } from './concurrency/admission.js'
import type { LogPositions } from './event-wait/accepted-event.js'
import { omitValues } from './store/omit-values.js'
import { runStatement } from './store/store.js'

/** Other runs affected by a transition: after the commit they read their inboxes. */
export interface AffectedRuns {
  runIds: string[]
  /** Whether queued runs may have been started. */
  admitted: boolean
}

const present = (parameter: string) => `coalesce(${parameter}::text::timestamptz, now())`
/** The worker of a run reads its inbox when the number grows; a run without a worker is due immediately. */
const woken = (at: string) => `signals = r.signals + 1,
  due_at = case when r.lease_owner is null then ${present(at)} else r.due_at end`

/** Writes the effects of a transition, in its transaction. */
export async function applyTransitionEffects(
  tx: StatementRunner,
  { identity, origin, progress, consumed, awaited, settled, abandoned, omits }: TransitionEffects,
  at: string | null,
): Promise<AffectedRuns> {
  const { id, tenant } = identity
  const hasEnded = progress.endedAt !== null
  if (consumed.length > 0) await dealtWith(tx, consumed)
  if (settled.length > 0) await forget(tx, id, settled)
  if (omits) await omitValues(tx, id, progress.status === 'completed')
  for (const task of awaited)
    await announceWait(tx, { runId: id, ...tenant, since: origin.since ?? {} }, task)
  const reason = {
    kind: 'cancel',
    by: 'system',
    reason: 'The run that has started it does not wait for it any more.',
  } as const
  const cancelled = await sendSignals(tx, abandoned, { signal: reason, actor: null, requestId: null }, at)
  const parent = hasEnded && identity.parentWaits ? await wake(tx, identity.parentRunId, at) : []
  const admitted =
    hasEnded && identity.concurrencyKey !== null
      ? await admitNextRuns(tx, identity.concurrencyKey, at)
      : false
  return { runIds: [...cancelled, ...parent], admitted }
}

/** Signals whose sender waits for the outcome are kept until the sender has read it. */
async function dealtWith(tx: StatementRunner, consumed: TransitionEffects['consumed']) {
  await runStatement(
    tx,
    `with dealt as (select * from unnest($1::bigint[], $2::text[]) as dealt(id, outcome)),
     answered as (update run_signals s set outcome = dealt.outcome from dealt where s.id = dealt.id and s.awaited)
     delete from run_signals s using dealt where s.id = dealt.id and not s.awaited`,
    [consumed.map(({ id }) => String(id)), consumed.map(({ outcome }) => outcome)],
  )
}

async function forget(tx: StatementRunner, runId: string, settled: readonly AwaitTask[]) {
  const tasks = settled.filter(({ waiting }) => waiting.for === 'event' || waiting.for === 'approval')
  if (tasks.length === 0) return
  await runStatement(
    tx,
    `with waits as (delete from run_event_waits where run_id = $1 and task = any($2::text[]))
     delete from run_approvers where run_id = $1 and task = any($2::text[])`,
    [runId, tasks.map(({ id }) => id)],
  )
}

async function announceWait(
  tx: StatementRunner,
  {
    runId,
    workspaceId,
    environment,
    since,
  }: { runId: string; workspaceId: string; environment: string; since: LogPositions },
  { id, waiting }: AwaitTask,
) {
  const key = [runId, id, workspaceId, environment]
  if (waiting.for === 'event')
    await runStatement(
      tx,
      `insert into run_event_waits (run_id, task, workspace_id, environment, types, filter, since)
       values ($1, $2, $3, $4, $5::text[], $6::text::json, $7::text::json) on conflict do nothing`,
      [...key, waiting.types, waiting.filter && JSON.stringify(waiting.filter), JSON.stringify(since)],
    )
  if (waiting.for === 'approval') {
    const { users, roles } = waiting.approval
    await runStatement(
      tx,
      `insert into run_approvers (run_id, task, workspace_id, environment, approver)
       select $1, $2, $3, $4, unnest($5::text[]) on conflict do nothing`,
      [
        ...key,
        [...new Set([...users.map((user) => `user:${user}`), ...roles.map((role) => `role:${role}`)])],
      ],
    )
  }
}

export interface SignalMessage {
  signal: Signal
  actor: Actor | null
  requestId: string | null
}

/** Adds a signal to the inboxes of those runs that have not ended; returns their ids. */
export async function sendSignals(
  tx: StatementRunner,
  runIds: readonly string[],
  message: SignalMessage,
  at: string | null,
): Promise<string[]> {
  return (await insertSignals(tx, runIds, message, { at, awaited: false })).map(({ runId }) => runId)
}

/** The same for one run whose result the sender waits for; `undefined` if the run has ended. */
export async function sendSignalRequest(
  tx: StatementRunner,
  runId: string,
  message: SignalMessage,
  at: string | null,
): Promise<{ inboxId: string } | undefined> {
  const [sent] = await insertSignals(tx, [runId], message, { at, awaited: true })
  return sent
}

async function insertSignals(
  tx: StatementRunner,
  runIds: readonly string[],
  { signal, actor, requestId }: SignalMessage,
  { at, awaited }: { at: string | null; awaited: boolean },
): Promise<readonly { runId: string; inboxId: string }[]> {
  if (runIds.length === 0) return []
  return runStatement(
    tx,
    `with reached as (
       update runs r set ${woken('$1')} where r.id = any($2::text[]) and r.ended_at is null
       returning r.id, r.attempt)
     insert into run_signals (run_id, attempt, signal, actor, request_id, awaited)
     select id, attempt, $3::text::json, $4::text::json, $5, $6::text::boolean from reached
     returning run_id as "runId", id::text as "inboxId"`,
    [at, [...runIds], stringifyExact(signal), actor && JSON.stringify(actor), requestId, String(awaited)],
  )
}

/** Wakes a run for a change that is not in its inbox. */
async function wake(tx: StatementRunner, runId: string | null, at: string | null): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(
    tx,
    `update runs r set ${woken('$1')} where r.id = $2 and r.ended_at is null returning r.id`,
    [at, runId],
  )
  return rows.map(({ id }) => id)
}
