import { stringifyExact } from '@opsplane/contracts'
import {
  type ArrayParameters,
  arrays,
  type Column,
  type JournalRow,
  parameterCounter,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { JournalLine, RunIdentity, RunProgress } from '../model.js'
import { buildJournalParameters, buildJournalParts } from './journal-statement.js'

export interface NewRun {
  identity: RunIdentity
  progress: RunProgress
  /** Unique among the runs of a workflow; `null`: any number of runs. */
  triggerKey: string | null
  /** The worker that executes it immediately; `null` if it is left to the due-work queue. */
  owner: string | null
  /** Without an owner: when it is due; `null` while it waits for its concurrency key. */
  dueAt: string | null
  /** Whether any of its steps may wait for events. */
  awaitsEvents: boolean
  seq: number
  bytes: number
  lines: readonly JournalLine[]
  events: readonly JournalRow[]
}

const columns: Column<NewRun>[] = [
  text('id', ({ identity }) => identity.id),
  text('workspace_id', ({ identity }) => identity.tenant.workspaceId),
  text('environment', ({ identity }) => identity.tenant.environment),
  text('workflow_id', ({ identity }) => identity.workflowId),
  text('workflow_name', ({ identity }) => identity.workflowName),
  text('workflow_version', ({ identity }) => String(identity.workflowVersion), 'int'),
  text('trigger_type', ({ identity }) => identity.triggerType),
  text('parent_run_id', ({ identity }) => identity.parentRunId),
  text('parent_waits', ({ identity }) => String(identity.parentWaits), 'boolean'),
  text('concurrency_key', ({ identity }) => identity.concurrencyKey),
  text('queued_at', ({ identity }) => identity.queuedAt, 'timestamptz'),
  text('status', ({ progress }) => progress.status),
  text('error', ({ progress }) => progress.error && stringifyExact(progress.error), 'json'),
  text('started_at', ({ progress }) => progress.startedAt, 'timestamptz'),
  text('ended_at', ({ progress }) => progress.endedAt, 'timestamptz'),
  text('seq', (row) => String(row.seq), 'int'),
  text('bytes', (row) => String(row.bytes), 'bigint'),
  text('awaits_events', (row) => String(row.awaitsEvents), 'boolean'),
  text('due_at', (row) => row.dueAt, 'timestamptz'),
  text('lease_owner', (row) => row.owner),
]
const keyColumn = text<NewRun>('trigger_key', ({ triggerKey }) => triggerKey)
const allColumns = [...columns, keyColumn]

/**
 * Inserts new runs in one statement, each with the start of its journal and its events, except those whose trigger has
 * already started a run. `$1` is the simulated time if there is one, `$2` the lease duration in milliseconds. Returns
 * the numbers of the inserted runs.
 */
export function startStatement(withEvents: boolean): string {
  const next = parameterCounter()
  for (let reserved = 0; reserved < 2; reserved++) next()
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ name, type }) => `t.${name}::${type}`).join(', ')
  const parts = [
    `given as materialized (select * from ${unnestRows(allColumns, next)})`,
    `fresh as (
      insert into run_triggers (workflow_id, key, run_id)
      select workflow_id, trigger_key, id from given where trigger_key is not null
      on conflict on constraint run_triggers_pkey do nothing returning run_id)`,
    `taken as materialized (
      select * from given where trigger_key is null or id in (select run_id from fresh))`,
    `made as (
      insert into runs (${names}, lease_fence, held_until)
      select ${values}, (t.lease_owner is not null)::int,
        case when t.lease_owner is not null
          then coalesce($1::text::timestamptz, clock_timestamp()) + $2::float8 * interval '1 ms' end
      from taken t)`,
    ...buildJournalParts('taken', next, withEvents),
  ]
  return `with ${parts.join(',\n')} select n::int as n from taken`
}

export function startParameters(
  starts: readonly NewRun[],
  { at, leaseMs, withEvents }: { at: string | null; leaseMs: number; withEvents: boolean },
): (string | null | ArrayParameters[number])[] {
  const written = starts.map(({ identity: { id }, lines, events }) => ({ runId: id, lines, events }))
  return [
    at,
    String(leaseMs),
    ...arrays(
      allColumns,
      starts.map((row, n) => ({ n, row })),
    ),
    ...buildJournalParameters(written, withEvents),
  ]
}
