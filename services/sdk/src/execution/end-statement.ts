import { stringifyExact } from '@opsplane/contracts'
import {
  type ArrayParameters,
  arrays,
  type Column,
  type JournalRow,
  journalColumns,
  journalParts,
  type Numbered,
  parameterCounter,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { EndedExecution } from './model.js'
import { insertRecordsSql, recordParameters } from './record-rows.js'

interface Shown extends EndedExecution {
  texts: { input: string | null; output: string; error: string | null; logs: string }
}

const columns: Column<Shown>[] = [
  text('id', ({ identity }) => identity.id),
  text('fence', ({ fence }) => fence, 'bigint'),
  text('status', ({ outcome }) => outcome.status),
  text('input', ({ texts }) => texts.input, 'json'),
  text('output', ({ texts }) => texts.output, 'json'),
  text('error', ({ texts }) => texts.error, 'json'),
  text('logs', ({ texts }) => texts.logs, 'json'),
  text('omitted', ({ outcome }) => String(outcome.omitted ?? false), 'boolean'),
  text('duration_ms', ({ outcome }) => String(outcome.durationMs), 'int'),
  text('memory_peak_mb', ({ outcome }) => String(outcome.memoryPeakMb), 'int'),
  text('completed_at', ({ completedAt }) => completedAt, 'timestamptz'),
  text('sealed', ({ sealedResult }) => sealedResult),
  text(
    'bytes',
    ({ texts }) => String(texts.output.length + (texts.error?.length ?? 0) + texts.logs.length),
    'int',
  ),
]

/**
 * Ends any number of executions in one statement, each only if its lease is still valid, with the sealed result, the
 * touched records and the event of a failure. `$1` and `$2` are the minimum and maximum id, which excludes the
 * partitions of other months. Returns the numbers of the executions ended.
 */
export function endStatement(withEvents: boolean): string {
  const next = parameterCounter()
  for (let reserved = 0; reserved < 2; reserved++) next()
  const casts = columns.map(({ name, type }) => `t.${name}::${type} as ${name}`).join(', ')
  const parts = [
    `given as materialized (select t.n::int as n, ${casts} from ${unnestRows(columns, next)})`,
    `ended as (
      update executions e set status = g.status, input = coalesce(g.input, e.input), output = g.output, error = g.error,
        input_masked = e.input_masked or g.input is not null, logs = g.logs, omitted = g.omitted, duration_ms = g.duration_ms,
        memory_peak_mb = g.memory_peak_mb, completed_at = greatest(g.completed_at, e.started_at), bytes = e.bytes + g.bytes,
        plan = null, lease_owner = null, held_until = null,
        change_position = nextval('execution_changes')
      from given g where e.id = g.id and e.id between $1 and $2 and e.lease_fence = g.fence and e.completed_at is null
      returning g.n)`,
    `sealed as (
      insert into execution_results (execution_id, sealed)
      select g.id, g.sealed from given g join ended using (n) where g.sealed is not null)`,
    insertRecordsSql('ended', next),
    ...(withEvents
      ? journalParts(`select t.* from ${unnestRows(journalColumns, next)} join ended on ended.n = t.n::int`)
      : []),
  ]
  return `with ${parts.join(',\n')} select n from ended`
}

export function endParameters(
  rows: readonly EndedExecution[],
  events: readonly Numbered<JournalRow>[],
): (string | null | ArrayParameters[number])[] {
  const ids = rows.map(({ identity }) => identity.id).sort()
  const shown = rows.map((row, n) => ({ n, row: { ...row, texts: textsOf(row) } }))
  return [
    ids.at(0) ?? '',
    ids.at(-1) ?? '',
    ...arrays(columns, shown),
    ...recordParameters(rows, false),
    ...(events.length > 0 ? arrays(journalColumns, events) : []),
  ]
}

const textsOf = ({ input, outcome: { output, error, logs } }: EndedExecution): Shown['texts'] => ({
  input: input === undefined ? null : stringifyExact(input),
  output: stringifyExact(output),
  error: error && stringifyExact(error),
  logs: stringifyExact(logs),
})
