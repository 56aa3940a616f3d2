import type { RunError, RunStatus } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import type { Recorded } from '../engine/history.js'
import { parseJournalLine } from './journal-lines.js'
import { runStatement } from './store/store.js'

/** How a run came out. */
export interface RunEnd {
  status: RunStatus
  /** Null unless it has completed. */
  output: unknown
  error: RunError | null
}

export interface CompletionWaiter {
  /** Undefined where the run has not ended in that time, or the caller has disconnected. */
  wait: WaitForRun
  /** The same, or that it is paused: until a person says how it goes on there is nothing to wait for. */
  waitForRest: WaitForRun
  /** A run has ended here, or is paused. */
  ended(runId: string, end: RunEnd): void
  /** Lets go of all who wait. */
  close(): void
}

type WaitForRun = (runId: string, ms: number, aborted?: AbortSignal) => Promise<RunEnd | undefined>

interface Waiter {
  /** It waits for no longer than until the run is paused. */
  forRest: boolean
  settled(end: RunEnd | undefined): void
}

/** Runs that others work on are asked for so often, all of them together. */
const lookEveryMs = 250

export function createCompletionWaiter(
  sql: Database['sql'],
  isHere: (runId: string) => boolean,
): CompletionWaiter {
  const waiting = new Map<string, Set<Waiter>>()
  const closing = new AbortController()
  let looking = false

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

  async function lookWhileWaiting() {
    if (looking) return
    looking = true
    while (waiting.size > 0 && !closing.signal.aborted) {
      await delay(lookEveryMs, closing.signal)
      const elsewhere = [...waiting.keys()].filter((id) => !isHere(id))
      if (elsewhere.length === 0) continue
      // What cannot be read now is read the next time.
      const found = await readRunEnds(sql, elsewhere, true).catch(() => new Map<string, RunEnd>())
      for (const [id, end] of found) settle(id, end)
    }
    looking = false
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
        void lookWhileWaiting()
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

/** Of those that have ended, or with `orPaused` are paused. */
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
      // What this service has written is as it was typed.
      const last = parseJournalLine({ entry, largeField, large }) as Recorded['entry']
      const ended = last.kind === 'ended' ? last : undefined
      const output = ended?.status === 'completed' ? ended.output : null
      // As it is: that of the run itself is masked.
      const error = ended && ended.status !== 'completed' ? ended.error : null
      return [id, { status, output, error }]
    }),
  )
}
