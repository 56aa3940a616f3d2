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

/** What a run was started with; its large value stands aside. */
export async function parseOrigin(sql: Database['sql'], runId: string): Promise<Origin> {
  const [line] = await runStatement<{ entry: unknown }>(
    sql,
    'select entry from run_entries where run_id = $1 and seq = 0',
    [runId],
  )
  if (!line) throw new Error(`${runId} has no journal`)
  // What this service has written is as it was typed.
  return line.entry as Origin
}

/** Journals of runs, by their ids. */
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
    // What this service has written is as it was typed.
    if (seq === 0) journals.set(runId, { origin: whole as Origin, recorded: [] })
    else journals.get(runId)?.recorded.push({ seq, at, bytes, entry: whole as Recorded['entry'] })
  }
  return journals
}

const linesAtOnce = 200

/** Values that people are not shown, which came with entries of a run. */
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
