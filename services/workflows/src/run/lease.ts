import type { RunError, RunStatus } from '@opsplane/contracts'
import { type Database, isoText, type ResidentRow } from '@opsplane/postgres'
import type { ClaimedRun } from './model.js'
import { runStatement } from './store/store.js'

/** Columns read when a run is taken over. */
export const runColumns = [
  'workspace_id',
  'environment',
  'workflow_id',
  'workflow_name',
  'workflow_version',
  'trigger_type',
  'parent_run_id',
  'parent_waits',
  'concurrency_key',
  'status',
  'attempt',
  'error',
  ...['queued_at', 'started_at', 'ended_at'].map((name) => `${isoText(name)} as ${name}`),
  'seq',
  'bytes::float8 as bytes',
  'signals',
  'last_error',
] as const

export interface RunRow {
  workspace_id: string
  environment: ClaimedRun['identity']['tenant']['environment']
  workflow_id: string
  workflow_name: string
  workflow_version: number
  trigger_type: string
  parent_run_id: string | null
  parent_waits: boolean
  concurrency_key: string | null
  status: RunStatus
  attempt: number
  error: RunError | null
  queued_at: string
  started_at: string | null
  ended_at: string | null
  seq: number
  bytes: number
  signals: number
  /** Why the run could not be taken over before. */
  last_error: string | null
}

export type LeasedRun = RunRow & ResidentRow

export function toClaimedRun(row: RunRow & { key: string; fence: string }): ClaimedRun {
  return {
    identity: {
      id: row.key,
      tenant: { workspaceId: row.workspace_id, environment: row.environment },
      workflowId: row.workflow_id,
      workflowName: row.workflow_name,
      workflowVersion: row.workflow_version,
      triggerType: row.trigger_type,
      parentRunId: row.parent_run_id,
      parentWaits: row.parent_waits,
      concurrencyKey: row.concurrency_key,
      queuedAt: row.queued_at,
    },
    progress: {
      status: row.status,
      attempt: row.attempt,
      error: row.error,
      startedAt: row.started_at,
      endedAt: row.ended_at,
    },
    fence: row.fence,
    seq: row.seq,
    bytes: row.bytes,
    signals: row.signals,
  }
}

export interface LeaseOptions {
  id: string
  owner: string
  leaseMs: number
  at: string | null
  /** Whether the current worker loses the lease. */
  force: boolean
}

/** Leases a run, ended or not, unless it has a worker. */
export async function leaseRun(
  sql: Database['sql'],
  { id, owner, leaseMs, at, force }: LeaseOptions,
): Promise<LeasedRun | undefined> {
  const [row] = await runStatement<LeasedRun>(
    sql,
    `update runs set lease_owner = $2::text, lease_fence = lease_fence + 1,
       due_at = least(due_at, coalesce($4::text::timestamptz, now())),
       held_until = coalesce($4::text::timestamptz, clock_timestamp()) + $3::float8 * interval '1 ms'
     where id = $1 and ($5::text::boolean or lease_owner is null or held_until < coalesce($4::text::timestamptz, now()))
     returning id as key, lease_fence::text as fence, failures, '' as at, 0::float8 as "lagMs", ${runColumns.join(', ')}`,
    [id, owner, String(leaseMs), at, String(force)],
  )
  return row
}
