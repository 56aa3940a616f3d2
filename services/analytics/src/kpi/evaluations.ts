import type { TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'

export interface EvaluationRequest {
  kpiId: string
  tenant: TenantScope
  /** Unix milliseconds. */
  times: readonly number[]
  backfill: boolean
  replace: boolean
  /** ISO instant. */
  now: string
}

/**
 * Schedules measurements of a KPI at the given times, except those already scheduled. Returns the number of times
 * added.
 */
export async function requestEvaluations(
  on: StatementRunner,
  { kpiId, tenant, times, backfill, replace, now }: EvaluationRequest,
): Promise<number> {
  if (times.length === 0) return 0
  const instants = times.map((at) => new Date(at).toISOString())
  const added = await on.unsafe(
    `insert into kpi_evaluations (id, kpi_id, workspace_id, environment, at, backfill, replace, due_at)
      select $1 || '/' || $5::text || '/' || at, $1, $2, $3, at::timestamptz, $5::text::boolean, $6::text::boolean,
        least($7::text::timestamptz, now())
      from unnest($4::text[]) as times (at)
      where $6::text::boolean or not $5::text::boolean
        or not exists (select 1 from kpi_points where kpi_id = $1 and kpi_points.at = times.at::timestamptz)
      on conflict (kpi_id, backfill, at) do update set replace = kpi_evaluations.replace or excluded.replace
      returning 1`,
    [kpiId, tenant.workspaceId, tenant.environment, instants, String(backfill), String(replace), now],
  )
  return added.length
}

/** Deletes all data of a deleted KPI. */
export async function deleteKpiData(on: StatementRunner, kpiId: string): Promise<void> {
  for (const table of ['kpi_evaluations', 'kpi_points', 'kpi_standings'])
    await on.unsafe(`delete from ${table} where kpi_id = $1`, [kpiId])
}
