import { ApiError } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import type { InboxOutcome } from './signal-envelope.js'
import { runStatement } from './store/store.js'
import { type SignalMessage, sendSignalRequest } from './transition-effects.js'

export interface SignalRequestOptions {
  sql: Database['sql']
  at(): string | null
  /** Called when the inbox of the run has a new signal. */
  notify(runId: string): void
  /** Takes over the lease of a run whose worker does not respond, and continues the run here. */
  seizeLease(runId: string): Promise<void>
  closing: AbortSignal
}

/** Time for the run's worker to process a signal, polling interval of the sender, and number of workers tried. */
const responseTimeoutMs = 10_000
const pollEveryMs = 25
const maxWorkers = 3

/**
 * Stores a signal in the inbox of a run that another worker executes, and waits for its outcome. The signal remains
 * there until a worker processes it in a transition, so its outcome is consistent with the journal. Throws
 * `service_unavailable` if no worker processes it.
 */
export async function requestSignal(
  options: SignalRequestOptions,
  runId: string,
  message: SignalMessage,
): Promise<InboxOutcome> {
  const { sql, at, notify, seizeLease, closing } = options
  const sent = await sql.begin((tx) => sendSignalRequest(tx, runId, message, at()))
  if (!sent) return 'ignored'
  notify(runId)
  for (let workers = 1; !closing.aborted; workers++) {
    const until = performance.now() + responseTimeoutMs
    while (performance.now() < until && !closing.aborted) {
      if (await isSettled(sql, runId, sent.inboxId)) return collect(sql, sent.inboxId)
      await delay(pollEveryMs, closing)
    }
    if (workers === maxWorkers) break
    await seizeLease(runId)
  }
  throw new ApiError(
    'service_unavailable',
    'The run has not processed this yet. Read the run, and try again.',
  )
}

/** An ended run processes no signals: those left in its inbox are for an earlier attempt. */
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
