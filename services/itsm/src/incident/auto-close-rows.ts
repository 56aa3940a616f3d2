import { Environment, IncidentState, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { defaultSettings } from '../settings/domain.js'

type StatementRunner = Pick<Database['sql'], 'unsafe'>

/** As its partial index has it. */
const waiting = `status = 'resolved' and major_state is distinct from 'accepted'`

export interface DueIncident {
  tenant: TenantScope
  state: IncidentState
  version: number
}

/**
 * Takes incidents whose time is over and that no other replica has in hand. Tenants are walked by the index, one
 * step each, and joined with their settings: neither incidents that wait nor tenants that never close cost anything.
 */
const claim = `
  with recursive tenants as (
    (select workspace_id, environment from incidents where ${waiting}
     order by workspace_id, environment limit 1)
    union all
    select next.workspace_id, next.environment from tenants t
    cross join lateral (
      select i.workspace_id, i.environment from incidents i
      where ${waiting} and (i.workspace_id, i.environment) > (t.workspace_id, t.environment)
      order by i.workspace_id, i.environment limit 1) next),
  closing as (
    select t.workspace_id, t.environment, to_char(
      ($1::text::timestamptz - make_interval(hours => 24 * d.days)) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as resolved_by
    from tenants t
    left join itsm_settings s on s.workspace_id = t.workspace_id and s.environment = t.environment
    cross join lateral (select coalesce((s.state->>'autoCloseDays')::int, $2::int) as days) d
    where d.days > 0)
  select due.workspace_id, due.environment, due.version, due.state from closing c
  cross join lateral (
    select i.workspace_id, i.environment, i.version, i.state from incidents i
    where ${waiting} and i.workspace_id = c.workspace_id and i.environment = c.environment
      and (i.state->>'resolvedAt') <= c.resolved_by
    order by (i.state->>'resolvedAt'), i.id limit $3::int for update of i skip locked) due
  limit $3::int`

export function claimStatement(now: string, limit: number): { text: string; parameters: string[] } {
  const { autoCloseDays } = defaultSettings('')
  return { text: claim, parameters: [now, String(autoCloseDays), String(limit)] }
}

export async function claimDue(tx: StatementRunner, now: string, limit: number): Promise<DueIncident[]> {
  const { text, parameters } = claimStatement(now, limit)
  const rows = await tx.unsafe<
    { workspace_id: string; environment: string; version: number; state: unknown }[]
  >(text, parameters, { prepare: true })
  return rows.map((row) => ({
    tenant: { workspaceId: row.workspace_id, environment: Environment.parse(row.environment) },
    state: IncidentState.parse(row.state),
    version: row.version,
  }))
}
