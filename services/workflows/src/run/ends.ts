import type { RunError, RunStatus } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import { entryOf } from './lines.js'
import { run } from './store/store.js'

/** How a run came out. */
export interface RunEnd {
  status: RunStatus
  /** Null unless it has completed. */
  output: unknown
  error: RunError | null
}

export interface Ends {
  /** Undefined where the run has not ended in so long, or nobody waits any more. */
  wait(runId: string, ms: number, aborted?: AbortSignal): Promise<RunEnd | undefined>
  /** A run has ended here. */
  ended(runId: string, end: RunEnd): void
  /** Lets go of all who wait. */
  close(): void
}

/** Runs that others work on are asked for so often, all of them together. */
const lookEveryMs = 250

export function createEnds(sql: Database['sql'], isHere: (runId: string) => boolean): Ends {
  const waiting = new Map<string, Set<(end: RunEnd | undefined) => void>>()
  const closing = new AbortController()
  let looking = false

  const settle = (runId: string, end: RunEnd | undefined) => {
    for (const resolve of waiting.get(runId) ?? []) resolve(end)
    waiting.delete(runId)
  }

  async function lookWhileWaiting() {
    if (looking) return
    looking = true
    while (waiting.size > 0 && !closing.signal.aborted) {
      await delay(lookEveryMs, closing.signal)
      const elsewhere = [...waiting.keys()].filter((id) => !isHere(id))
      if (elsewhere.length === 0) continue
      // What cannot be read now is read the next time.
      const found = await readEnds(sql, elsewhere).catch(() => new Map<string, RunEnd>())
      for (const [id, end] of found) settle(id, end)
    }
    looking = false
  }

  return {
    wait(runId, ms, aborted) {
      if (closing.signal.aborted || aborted?.aborted) return Promise.resolve(undefined)
      return new Promise<RunEnd | undefined>((resolve) => {
        const found = waiting.get(runId) ?? new Set()
        const settled = (end: RunEnd | undefined) => {
          clearTimeout(timer)
          aborted?.removeEventListener('abort', leave)
          resolve(end)
        }
        const leave = () => {
          settled(undefined)
          found.delete(settled)
          if (found.size === 0 && waiting.get(runId) === found) waiting.delete(runId)
        }
        const timer = setTimeout(leave, ms)
        aborted?.addEventListener('abort', leave)
        waiting.set(runId, found.add(settled))
        void lookWhileWaiting()
        if (!isHere(runId))
          void readEnds(sql, [runId])
            .then((ends) => ends.has(runId) && settle(runId, ends.get(runId)))
            .catch(() => {})
      })
    },
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
  error: RunError | null
  entry: object
  large_field: string | null
  large: unknown
}

/** Of those that have ended. */
export async function readEnds(
  sql: Database['sql'],
  runIds: readonly string[],
): Promise<Map<string, RunEnd>> {
  const ids = [...runIds].sort()
  const rows = await run<EndRow>(
    sql,
    `select r.id, r.status, r.error, e.entry, e.large_field, e.large from runs r
     join run_entries e on e.run_id = r.id and e.seq = r.seq and e.run_id between $2 and $3
     where r.id = any($1::text[]) and r.id between $2 and $3 and r.ended_at is not null`,
    [ids, ids.at(0) ?? '', ids.at(-1) ?? ''],
  )
  return new Map(
    rows.map(({ id, status, error, entry, large_field: largeField, large }) => {
      const last = entryOf({ entry, largeField, large })
      const output = status === 'completed' && 'output' in last ? last.output : null
      return [id, { status, output, error }]
    }),
  )
}
