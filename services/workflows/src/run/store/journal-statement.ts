import {
  type ArrayParameters,
  arrays,
  type Column,
  insertInto,
  type JournalRow,
  journalColumns,
  journalParts,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { JournalLine } from '../model.js'

const lineColumns: Column<JournalLine & { runId: string }>[] = [
  text('run_id', (row) => row.runId),
  text('seq', (row) => String(row.seq), 'int'),
  text('at', (row) => String(row.at), 'bigint'),
  text('entry', (row) => row.entry, 'json'),
  text('large_field', (row) => row.largeField),
  text('large', (row) => row.large, 'json'),
  text('large_bytes', (row) => (row.large === null ? null : String(row.large.length)), 'int'),
]

/** Statement parts that write journal and events of the runs whose number `n` is in `source`. */
export function buildJournalParts(source: string, next: () => number, withEvents: boolean): string[] {
  const joined = <Row>(columns: readonly Column<Row>[]) =>
    `${unnestRows(columns, next)} join ${source} on ${source}.n::int = t.n::int`
  return [
    `kept as (${insertInto('run_entries', lineColumns, joined(lineColumns))})`,
    ...(withEvents ? journalParts(`select t.* from ${joined(journalColumns)}`) : []),
  ]
}

/** Parameters of these parts: `n` is the index in `written`. */
export function buildJournalParameters(
  written: readonly { runId: string; lines: readonly JournalLine[]; events: readonly JournalRow[] }[],
  withEvents: boolean,
): ArrayParameters {
  const lines = written.flatMap(({ runId, lines: own }, n) =>
    own.map((line) => ({ n, row: { ...line, runId } })),
  )
  const events = written.flatMap((each, n) => each.events.map((row) => ({ n, row })))
  return [...arrays(lineColumns, lines), ...(withEvents ? arrays(journalColumns, events) : [])]
}
