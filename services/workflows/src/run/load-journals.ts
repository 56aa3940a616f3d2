import type { Database } from '@opsplane/postgres'
import type { Recorded } from '../engine/history.js'
import { parseJournalLine } from './journal-lines.js'
import type { Origin } from './model.js'
import { runStatement } from './store/store.js'

/** The whole journal of a run. */
export interface LoadedJournal {
  origin: Origin
  recorded: Recorded[]
}

interface Line {
  run_id: string
  seq: number
  at: number
  bytes: number
  entry: object
  large_field: string | null
  large: unknown
}

/** Reads the origin of a run; its large value, stored separately, is not included. */
export async function parseOrigin(sql: Database['sql'], runId: string): Promise<Origin> {
  const [line] = await runStatement<{ entry: unknown }>(
    sql,
    'select entry from run_entries where run_id = $1 and seq = 0',
    [runId],
  )
  if (!line) throw new Error(`${runId} has no journal`)
  // This service wrote the line, so it has the expected type.
  return line.entry as Origin
}

/** Loads the journals of runs, by run id. */
export async function loadJournals(
  sql: Database['sql'],
  runIds: readonly string[],
): Promise<Map<string, LoadedJournal>> {
  const ids = [...runIds].sort()
  const lines = await runStatement<Line>(
    sql,
    `select run_id, seq, at::float8 as at, octet_length(entry::text) + coalesce(large_bytes, 0) as bytes, entry, large_field, large from run_entries
     where run_id = any($1::text[]) and run_id between $2 and $3 order by run_id, seq`,
    [ids, ids.at(0) ?? '', ids.at(-1) ?? ''],
  )
  const journals = new Map<string, LoadedJournal>()
  for (const { run_id: runId, seq, at, bytes, entry, large_field: largeField, large } of lines) {
    const whole = parseJournalLine({ entry, largeField, large })
    // This service wrote the line, so it has the expected type.
    if (seq === 0) journals.set(runId, { origin: whole as Origin, recorded: [] })
    else journals.get(runId)?.recorded.push({ seq, at, bytes, entry: whole as Recorded['entry'] })
  }
  return journals
}

const linesAtOnce = 200

/** Secret values in the entries of a run, which are masked when the run is shown. */
export async function findConcealedValues(sql: Database['sql'], runId: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (let after = 0; ; ) {
    const lines = await runStatement<{ seq: number; entry: { secrets?: string[] } }>(
      sql,
      `select seq, entry from run_entries
       where run_id = $1 and seq > $2::int and entry::text like '%"secrets":[%' order by seq limit ${linesAtOnce}`,
      [runId, String(after)],
    )
    for (const { entry } of lines) for (const secret of entry.secrets ?? []) found.add(secret)
    after = lines.at(-1)?.seq ?? after
    if (lines.length < linesAtOnce) return found
  }
}
