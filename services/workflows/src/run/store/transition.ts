import { stringifyExact, type TenantScope } from '@opsplane/contracts'
import {
  type ArrayParameters,
  arrays,
  type Column,
  type JournalRow,
  parameterCounter,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { JournalLine, RunProgress } from '../model.js'
import { buildJournalParameters, buildJournalParts } from './journal-statement.js'

/** The transition of one run, applied completely or not at all. */
export interface Transition {
  runId: string
  tenant: TenantScope
  /** Fence of the lease under which it is made. */
  fence: string
  /** Sequence number of the last entry it was decided on. */
  before: number
  seq: number
  /** Size of the whole journal in bytes. */
  bytes: number
  progress: RunProgress
  /** Unix milliseconds; `null`: nothing is due without a new signal. */
  dueAt: number | null
  /** Whether to release the lease. */
  release: boolean
  /** Number of signals its worker has read; if there are more, the run is due immediately. */
  signals: number
  lines: readonly JournalLine[]
  events: readonly JournalRow[]
}

export interface TransitionResult {
  n: number
  /** Number of signals sent to the run so far. */
  signals: number
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

const transitionColumns: Column<Transition>[] = [
  text('id', (row) => row.runId),
  text('fence', (row) => row.fence, 'bigint'),
  text('before', (row) => String(row.before), 'int'),
  text('seq', (row) => String(row.seq), 'int'),
  text('bytes', (row) => String(row.bytes), 'bigint'),
  text('status', (row) => row.progress.status),
  text('attempt', (row) => String(row.progress.attempt), 'int'),
  text('error', (row) => row.progress.error && stringifyExact(row.progress.error), 'json'),
  text('started_at', (row) => row.progress.startedAt, 'timestamptz'),
  text('ended_at', (row) => row.progress.endedAt, 'timestamptz'),
  text('due_at', (row) => iso(row.dueAt), 'timestamptz'),
  text('release', (row) => String(row.release), 'boolean'),
  text('signals', (row) => String(row.signals), 'int'),
]

/**
 * Applies transitions of any number of runs, at most one for each, in one statement: the run if its lease and journal
 * are unchanged since the decision, the new entries, and the events. `$1` is the simulated time if there is one, `$2`
 * and `$3` are the minimum and maximum id, which excludes the partitions of other months.
 */
export function transitionStatement(withEvents: boolean): string {
  const next = parameterCounter()
  for (let reserved = 0; reserved < 3; reserved++) next()
  const now = 'coalesce($1::text::timestamptz, now())'
  const casts = transitionColumns.map(({ name, type }) => `t.${name}::${type} as ${name}`).join(', ')
  const parts = [
    `given as materialized (select t.n::int as n, ${casts} from ${unnestRows(transitionColumns, next)})`,
    `moved as (
      update runs r set seq = g.seq, bytes = g.bytes, status = g.status, attempt = g.attempt, error = g.error,
        started_at = g.started_at, ended_at = g.ended_at, failures = 0, last_error = null,
        due_at = case
          -- As it is while it has a worker: another worker continues immediately.
          when not g.release then least(r.due_at, ${now})
          when r.signals > g.signals then ${now} else g.due_at end,
        lease_owner = case when g.release then null else r.lease_owner end,
        held_until = case when g.release then null else r.held_until end
      from given g where r.id = g.id and r.id between $2 and $3
        and r.lease_fence = g.fence and r.lease_owner is not null and r.seq = g.before
      returning g.n, r.signals)`,
    ...buildJournalParts('moved', next, withEvents),
  ]
  return `with ${parts.join(',\n')} select n, signals from moved`
}

export function transitionParameters(
  transitions: readonly Transition[],
  { at, withEvents }: { at: string | null; withEvents: boolean },
): (string | null | ArrayParameters[number])[] {
  const ids = transitions.map(({ runId }) => runId).sort()
  const rows = transitions.map((row, n) => ({ n, row }))
  return [
    at,
    ids.at(0) ?? '',
    ids.at(-1) ?? '',
    ...arrays(transitionColumns, rows),
    ...buildJournalParameters(transitions, withEvents),
  ]
}
