import {
  type ArrayParameters,
  arrays,
  type Column,
  insertInto,
  textColumn as text,
  unnestRows,
} from '@opsplane/eventstore'
import type { ExecutionIdentity, TouchedRecord } from './model.js'

/** A record with its execution. */
interface RecordRow extends TouchedRecord {
  identity: ExecutionIdentity
  /** Whether the record triggered the execution. */
  triggered: boolean
}

const columns: Column<RecordRow>[] = [
  text('execution_id', ({ identity }) => identity.id),
  text('record_id', ({ id }) => id),
  text('table_name', ({ table }) => table),
  text('workspace_id', ({ identity }) => identity.tenant.workspaceId),
  text('environment', ({ identity }) => identity.tenant.environment),
  text('triggered', ({ triggered }) => String(triggered), 'boolean'),
]

/** Inserts the records of the executions whose numbers are in `of`. */
export const insertRecordsSql = (of: string, next: () => number): string =>
  `noted as (${insertInto('execution_records', columns, `${unnestRows(columns, next)} join ${of} on ${of}.n::int = t.n::int`)}
    on conflict do nothing)`

export const recordParameters = (
  rows: readonly { identity: ExecutionIdentity; records: readonly TouchedRecord[] }[],
  triggered: boolean,
): ArrayParameters =>
  arrays(
    columns,
    rows.flatMap(({ identity, records }, n) =>
      records.map((record) => ({ n, row: { ...record, identity, triggered } })),
    ),
  )
