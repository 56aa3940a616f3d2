import type { RunError, RunStatus } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import type { Recorded } from '../engine/history.js'
import { parseJournalLine } from './journal-lines.js'
import { runStatement } from './store/store.js'

/** The outcome of a run. */
export interface RunEnd {
  status: RunStatus
  /** `null` unless the run has completed. */
  output: unknown
  error: RunError | null
}

export interface CompletionWaiter {
  /** Resolves to `undefined` if the run has not ended in time, or the caller has disconnected. */
  wait: WaitForRun
  /** The same, but also resolves when the run is paused: only a person can continue it then. */
  waitForRest: WaitForRun
  /** To be called when a run has ended in this replica or is paused. */
  ended(runId: string, end: RunEnd): void
  /** Releases all waiters. */
  close(): void
}

type WaitForRun = (runId: string, ms: number, aborted?: AbortSignal) => Promise<RunEnd | undefined>

interface Waiter {
  /** Waits only until the run is paused. */
  forRest: boolean
  settled(end: RunEnd | undefined): void
}

/** Interval at which runs of other replicas are polled, all in one query. */
const pollEveryMs = 250

export function createCompletionWaiter(
  sql: Database['sql'],
  isHere: (runId: string) => boolean,
): CompletionWaiter {
  const waiting = new Map<string, Set<Waiter>>()
  const closing = new AbortController()
  let isPolling = false

  const leave = (runId: string, waiter: Waiter) => {
    const found = waiting.get(runId)
    if (found?.delete(waiter) && found.size === 0) waiting.delete(runId)
  }
  const settle = (runId: string, end: RunEnd | undefined) => {
    for (const waiter of [...(waiting.get(runId) ?? [])]) {
      if (end?.status === 'paused' && !waiter.forRest) continue
      leave(runId, waiter)
      waiter.settled(end)
    }
  }

  async function pollWhileWaiting() {
    if (isPolling) return
    isPolling = true
    while (waiting.size > 0 && !closing.signal.aborted) {
      await delay(pollEveryMs, closing.signal)
      const elsewhere = [...waiting.keys()].filter((id) => !isHere(id))
      if (elsewhere.length === 0) continue
      // A failed read is repeated at the next poll.
      const found = await readRunEnds(sql, elsewhere, true).catch(() => new Map<string, RunEnd>())
      for (const [id, end] of found) settle(id, end)
    }
    isPolling = false
  }

  const waitFor =
    (forRest: boolean): WaitForRun =>
    (runId, ms, aborted) => {
      if (closing.signal.aborted || aborted?.aborted) return Promise.resolve(undefined)
      return new Promise<RunEnd | undefined>((resolve) => {
        const settled = (end: RunEnd | undefined) => {
          clearTimeout(timer)
          aborted?.removeEventListener('abort', onTimeout)
          resolve(end)
        }
        const waiter = { forRest, settled }
        const onTimeout = () => {
          leave(runId, waiter)
          settled(undefined)
        }
        const timer = setTimeout(onTimeout, ms)
        aborted?.addEventListener('abort', onTimeout)
        waiting.set(runId, (waiting.get(runId) ?? new Set()).add(waiter))
        void pollWhileWaiting()
        if (!isHere(runId))
          void readRunEnds(sql, [runId], true)
            .then((ends) => ends.has(runId) && settle(runId, ends.get(runId)))
            .catch(() => {})
      })
    }

  return {
    wait: waitFor(false),
    waitForRest: waitFor(true),
    ended: settle,
    close() {
      closing.abort()
      for (const runId of [...waiting.keys()]) settle(runId, undefined)
    },
  }
}

interface EndRow {
  id: string
  status: RunStatus
  entry: object
  large_field: string | null
  large: unknown
}

/** Outcomes of the runs that have ended or, with `orPaused`, are paused. */
export async function readRunEnds(
  sql: Database['sql'],
  runIds: readonly string[],
  orPaused = false,
): Promise<Map<string, RunEnd>> {
  const ids = [...runIds].sort()
  const rows = await runStatement<EndRow>(
    sql,
    `select r.id, r.status, e.entry, e.large_field, e.large from runs r
     join run_entries e on e.run_id = r.id and e.seq = r.seq and e.run_id between $2 and $3
     where r.id = any($1::text[]) and r.id between $2 and $3
       and (r.ended_at is not null or ($4::text::bool and r.status = 'paused'))`,
    [ids, ids.at(0) ?? '', ids.at(-1) ?? '', String(orPaused)],
  )
  return new Map(
    rows.map(({ id, status, entry, large_field: largeField, large }) => {
      // This service wrote the line, so it has the expected type.
      const last = parseJournalLine({ entry, largeField, large }) as Recorded['entry']
      const endedEntry = last.kind === 'ended' ? last : undefined
      const output = endedEntry?.status === 'completed' ? endedEntry.output : null
      // The unmasked error; the one in the run's row is masked.
      const error = endedEntry && endedEntry.status !== 'completed' ? endedEntry.error : null
      return [id, { status, output, error }]
    }),
  )
}
