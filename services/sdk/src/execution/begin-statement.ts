import { stringifyExact } from '@opsplane/contracts'
import {
  type ArrayParameters,
  arrays,
  type Column,
  parameterCounter,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { NewExecution } from './model.js'
import { insertRecordsSql, recordParameters } from './record-rows.js'
import { recheckSeconds } from './trigger-queue.js'

type Begun = NewExecution & { shown: string }

const columns: Column<Begun>[] = [
  text('id', ({ identity }) => identity.id),
  text('workspace_id', ({ identity }) => identity.tenant.workspaceId),
  text('environment', ({ identity }) => identity.tenant.environment),
  text('artifact_id', ({ identity }) => identity.artifact.id),
  text('artifact_slug', ({ identity }) => identity.artifact.slug),
  text('artifact_version', ({ identity }) => String(identity.artifact.version), 'int'),
  text('artifact_type', ({ identity }) => identity.artifact.kind),
  text('execution_type', ({ identity }) => identity.type),
  text('trigger_type', ({ identity }) => identity.trigger.type),
  text('trigger_id', ({ identity }) => identity.trigger.id),
  text('replay_of', ({ identity }) => identity.replayOf),
  text('depth', ({ identity }) => String(identity.depth), 'int'),
  text('request_id', ({ identity }) => identity.requestId),
  text('input', ({ shown }) => shown, 'json'),
  text('input_masked', ({ inputMasked }) => String(inputMasked), 'boolean'),
  text('bytes', ({ shown }) => String(shown.length), 'int'),
  text('plan', ({ plan }) => plan && stringifyExact(plan), 'json'),
  text('lease_owner', ({ owner }) => owner),
]
const startedColumn = text<Begun>('started_at', ({ identity }) => identity.startedAt, 'timestamptz')
const turnColumn = text<Begun>('in_turn', ({ plan }) => String(plan?.inTurn ?? false), 'boolean')
const keyColumns: Column<Begun>[] = [
  text('key', ({ key }) => key?.key ?? null),
  text('fingerprint', ({ key }) => key?.fingerprint ?? null),
]
const allColumns = [...columns, startedColumn, turnColumn, ...keyColumns]

/**
 * Inserts new executions and the records that triggered them in one statement, except those whose key has already led
 * to an execution. `$1` is the simulated time if there is one, `$2` the lease duration in milliseconds. Returns the
 * numbers of the inserted executions.
 */
export function beginStatement(): string {
  const next = parameterCounter()
  for (let reserved = 0; reserved < 2; reserved++) next()
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ name, type }) => `t.${name}::${type}`).join(', ')
  const parts = [
    `given as materialized (select * from ${unnestRows(allColumns, next)})`,
    `fresh as (
      insert into execution_keys (key, execution_id, fingerprint)
      select key, id, fingerprint from given where key is not null
      on conflict on constraint execution_keys_pkey do nothing returning execution_id)`,
    `taken as materialized (
      select * from given where key is null or id in (select execution_id from fresh))`,
    // Due by the database clock, even if the clock of the process is ahead.
    `made as (
      insert into executions (${names}, started_at, lease_fence, held_until)
      select ${values}, least(t.started_at::timestamptz, now()), (t.lease_owner is not null)::int,
        coalesce($1::text::timestamptz, clock_timestamp()) + case
          when t.lease_owner is not null then $2::float8 * interval '1 ms'
          when t.in_turn::boolean then interval '${recheckSeconds} s' end
      from taken t)`,
    insertRecordsSql('taken', next),
  ]
  return `with ${parts.join(',\n')} select n::int as n from taken`
}

export function beginParameters(
  rows: readonly NewExecution[],
  { at, leaseMs }: { at: string | null; leaseMs: number },
): (string | null | ArrayParameters[number])[] {
  const shown = rows.map((row, n) => ({ n, row: { ...row, shown: stringifyExact(row.input) } }))
  return [at, String(leaseMs), ...arrays(allColumns, shown), ...recordParameters(rows, true)]
}
