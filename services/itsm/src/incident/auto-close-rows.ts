import { type ClaimOptions, claimInstantSql, dueTable, nowSql, type Statement } from '@opsplane/postgres'
import { defaultSettings } from '../settings/domain.js'

/** Must match the condition of the partial index. */
const waiting = `status = 'resolved' and major_state is distinct from 'accepted'`

/** No due time of their own: it follows from the tenant's settings, so dedicated statements find the due incidents. */
export const resolvedIncidents = dueTable({
  table: 'incidents',
  key: 'id',
  dueAt: 'null::timestamptz',
  waiting,
})

/**
 * Finds the tenants with resolved incidents by one index step each, and joins them with their settings. Waiting
 * incidents and tenants that never close incidents cost nothing.
 */
const closing = `
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
    select t.workspace_id, t.environment, make_interval(hours => 24 * d.days) as after, to_char(
      (${nowSql} - make_interval(hours => 24 * d.days)) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as resolved_by
    from tenants t
    left join itsm_settings s on s.workspace_id = t.workspace_id and s.environment = t.environment
    cross join lateral (
      select coalesce((s.state->>'autoCloseDays')::int, ${defaultSettings('').autoCloseDays}) as days) d
    where d.days > 0)`

/** Each tenant gets a share of the batch. */
const claim = `${closing}
  select due.* from closing c
  cross join lateral (
    select i.id as key, i.failures, ${claimInstantSql}, 0::float8 as "lagMs", i.workspace_id, i.environment, i.version, i.state
    from incidents i
    where ${waiting} and i.workspace_id = c.workspace_id and i.environment = c.environment
      and (i.state->>'resolvedAt') <= c.resolved_by and (i.held_until is null or i.held_until <= ${nowSql})
    order by (i.state->>'resolvedAt'), i.id limit greatest($2::int / 4, 1) for update of i skip locked) due
  limit $2::int`

export const claimStatement = ({ at, limit }: Pick<ClaimOptions, 'at' | 'limit'>): Statement => ({
  text: claim,
  parameters: [at, String(limit)],
})

/** The instant at which the first incident of any tenant is due to be closed. */
export const nextClosing = `(${closing}
  select min((first.state->>'resolvedAt')::timestamptz + c.after) from closing c
  cross join lateral (
    select i.state from incidents i
    where ${waiting} and i.workspace_id = c.workspace_id and i.environment = c.environment
    order by (i.state->>'resolvedAt'), i.id limit 1) first)`
