import { ApiError } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import type { InboxOutcome } from './signal-envelope.js'
import { runStatement } from './store/store.js'
import { type SignalMessage, sendSignalRequest } from './transition-effects.js'

export interface SignalRequestOptions {
  sql: Database['sql']
  at(): string | null
  /** There is news in the inbox of the run. */
  told(runId: string): void
  /** The worker of the run does not answer: takes its lease away, and goes on with the run here. */
  takeAway(runId: string): Promise<void>
  closing: AbortSignal
}

/** How long the worker of a run has to deal with a signal, how often the sender looks, and how many workers are tried. */
const patienceMs = 10_000
const lookEveryMs = 25
const mostWorkers = 3

/**
 * Puts a signal into the inbox of a run that another worker has, and waits for what becomes of it. It stays there until a
 * worker has dealt with it in a transition, so its outcome agrees with the journal. Throws `service_unavailable` where no
 * worker has.
 */
export async function requestSignal(
  options: SignalRequestOptions,
  runId: string,
  message: SignalMessage,
): Promise<InboxOutcome> {
  const { sql, at, told, takeAway, closing } = options
  const sent = await sql.begin((tx) => sendSignalRequest(tx, runId, message, at()))
  if (!sent) return 'ignored'
  told(runId)
  for (let workers = 1; !closing.aborted; workers++) {
    const until = performance.now() + patienceMs
    while (performance.now() < until && !closing.aborted) {
      if (await isSettled(sql, runId, sent.inboxId)) return collect(sql, sent.inboxId)
      await delay(lookEveryMs, closing)
    }
    if (workers === mostWorkers) break
    await takeAway(runId)
  }
  throw new ApiError(
    'service_unavailable',
    'The run has not dealt with this yet. Read the run, and try again.',
  )
}

/** A run that has ended deals with nothing any more: what is left in its inbox is for an earlier attempt. */
async function isSettled(sql: Database['sql'], runId: string, inboxId: string): Promise<boolean> {
  const rows = await runStatement(
    sql,
    `select 1 from runs r join run_signals s on s.id = $2::bigint
     where r.id = $1 and r.ended_at is null and s.outcome is null`,
    [runId, inboxId],
  )
  return rows.length === 0
}

async function collect(sql: Database['sql'], inboxId: string): Promise<InboxOutcome> {
  const [row] = await runStatement<{ outcome: InboxOutcome | null }>(
    sql,
    'delete from run_signals where id = $1::bigint returning outcome',
    [inboxId],
  )
  return row?.outcome ?? 'ignored'
}
