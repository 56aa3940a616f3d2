import type { PlatformEvent, TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { WebhookRow } from '../webhook/target.js'

/** The webhooks, active and paused, of these tenants. */
export async function webhooksOf(sql: Database['sql'], tenants: TenantScope[]): Promise<WebhookRow[]> {
  return sql.unsafe<WebhookRow[]>(
    `select w.id, w.workspace_id, w.environment, w.version, w.state from webhooks w
     where (w.workspace_id, w.environment) in (select * from unnest($1::text[], $2::text[]))`,
    [tenants.map(({ workspaceId }) => workspaceId), tenants.map(({ environment }) => environment)],
    { prepare: true },
  )
}

export interface NewDelivery {
  id: string
  workspace_id: string
  environment: string
  webhook_id: string
  event_id: string
  event_type: string
  url: string
  status: 'pending' | 'held'
  due_at: number | null
  lease_owner: string | null
  ordering_key: string | null
  ordering_place: string | null
  created_at: string
}

/** Inserts deliveries with their events, and returns the ids of those that are new. */
export async function insertDeliveries(
  sql: Database['sql'],
  events: PlatformEvent[],
  deliveries: NewDelivery[],
  now: string,
): Promise<Set<string>> {
  const kept = events.map((event) => ({
    event_id: event.id,
    workspace_id: event.workspaceId,
    environment: event.environment,
    event,
  }))
  const rows = await sql.unsafe<{ id: string }[]>(
    insertStatement,
    [JSON.stringify(kept), JSON.stringify(deliveries), now],
    { prepare: true },
  )
  return new Set(rows.map(({ id }) => id))
}

// json, not jsonb: the event's text is kept as it is.
export const insertStatement = `
with kept as (
  insert into delivery_events (event_id, workspace_id, environment, event, created_at)
  select event_id, workspace_id, environment, event, $3::text
  from json_to_recordset($1::text::json) as e (event_id text, workspace_id text, environment text, event json)
  on conflict (event_id) do nothing
)
insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, due_at,
  lease_owner, ordering_key, ordering_place, created_at)
select id, workspace_id, environment, webhook_id, event_id, event_type, url, status, due_at, lease_owner,
  ordering_key, ordering_place, created_at
from json_to_recordset($2::text::json) as d (id text, workspace_id text, environment text, webhook_id text,
  event_id text, event_type text, url text, status text, due_at bigint, lease_owner text, ordering_key text,
  ordering_place text, created_at text)
on conflict (id) do nothing
returning id`
