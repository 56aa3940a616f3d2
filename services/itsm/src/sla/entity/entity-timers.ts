import { type Instant, SlaTimer, type TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../timer/rows.js'

/**
 * Returns the clocks of an entity in order of their start: their current
 * states, or the states at `asOf` of the clocks that existed then.
 */
export async function readTimersOfEntity(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  id: string,
  asOf: Instant | undefined,
): Promise<SlaTimer[]> {
  const ofEntity = 't.workspace_id = $1 and t.environment = $2 and t.incident_id = $3'
  const parameters = [workspaceId, environment, id]
  const rows = await sql.unsafe<{ state: unknown }[]>(
    asOf === undefined
      ? `select t.state from sla_timers t where ${ofEntity} order by t.id`
      : // Clocks are never deleted, so all clocks that existed then still exist.
        `select last.state from sla_timers t cross join lateral (
           select e.data->'after' as state from events e
           where e.stream_id = t.id and e.stream_type = 'sla_timers' and e.workspace_id = $1 and e.environment = $2
             and e.created_at <= $4::text::timestamptz
           order by e.version desc limit 1) last
         where ${ofEntity} order by t.id`,
    asOf === undefined ? parameters : [...parameters, asOf],
    { prepare: true },
  )
  return rows.map(({ state }) => SlaTimer.parse(state))
}
